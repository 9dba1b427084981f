// AF_UNIX sockets that Node cannot make: SEQPACKET pairs, connects under another id, packets with descriptors.
#include <errno.h>
#include <grp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

#include "addon.h"

static constexpr size_t kMaxFds = 253;  // SCM_MAX_FD of net/scm.h

static Napi::Value Socketpair(const Napi::CallbackInfo& info) {
  int ends[2];
  if (socketpair(AF_UNIX, ToInt(info[0]) | SOCK_CLOEXEC, 0, ends) != 0) ThrowErrno(info.Env(), errno, "socketpair");
  Napi::Array result = Napi::Array::New(info.Env(), 2);
  result.Set(0u, Napi::Number::New(info.Env(), ends[0]));
  result.Set(1u, Napi::Number::New(info.Env(), ends[1]));
  return result;
}

struct Failure {
  int error = 0;
  const char* syscall = "";
};

// Non-blocking, so that a listener whose backlog is full gives EAGAIN and cannot hold the caller.
static int Connect(const sockaddr_un& address, int type, Failure* failure) {
  ScopedFd fd(socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) {
    *failure = {errno, "socket"};
    return -1;
  }
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    *failure = {errno, "connect"};
    return -1;
  }
  return fd.release();
}

// The raw calls change the calling thread alone; libc's wrappers would change the whole process.
static bool BecomeOnThisThread(uid_t uid, gid_t gid, Failure* failure) {
  if (syscall(SYS_setgroups, 0, nullptr) != 0) *failure = {errno, "setgroups"};
  else if (syscall(SYS_setresgid, gid, gid, gid) != 0) *failure = {errno, "setresgid"};
  else if (syscall(SYS_setresuid, uid, uid, uid) != 0) *failure = {errno, "setresuid"};
  else return true;
  return false;
}

static Napi::Value ConnectUnix(const Napi::CallbackInfo& info) {
  const std::string path = info[0].As<Napi::String>();
  const int type = ToInt(info[1]);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) ThrowErrno(info.Env(), ENAMETOOLONG, "connect", path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);

  Failure failure;
  int fd = -1;
  if (info[2].IsUndefined()) {
    fd = Connect(address, type, &failure);
  } else {
    const uid_t uid = static_cast<uid_t>(ToU64(info[2]));
    const gid_t gid = static_cast<gid_t>(ToU64(info[3]));
    std::thread([&] {
      if (BecomeOnThisThread(uid, gid, &failure)) fd = Connect(address, type, &failure);
    }).join();
  }
  if (fd < 0) ThrowErrno(info.Env(), failure.error, failure.syscall, path);
  return Napi::Number::New(info.Env(), fd);
}

static Napi::Value PeerCredentials(const Napi::CallbackInfo& info) {
  ucred peer = {};
  socklen_t length = sizeof peer;
  if (getsockopt(ToInt(info[0]), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
    ThrowErrno(info.Env(), errno, "getsockopt SO_PEERCRED");
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("pid", Napi::Number::New(info.Env(), peer.pid));
  result.Set("uid", Napi::Number::New(info.Env(), peer.uid));
  result.Set("gid", Napi::Number::New(info.Env(), peer.gid));
  return result;
}

static Napi::Value SendPacket(const Napi::CallbackInfo& info) {
  auto data = info[1].As<Napi::Buffer<char>>();
  const auto fds = info[2].As<Napi::Array>();
  if (fds.Length() > kMaxFds) ThrowErrno(info.Env(), EINVAL, "sendmsg");
  iovec part = {data.Data(), data.Length()};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxFds * sizeof(int))] = {};
  if (fds.Length() > 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.Length() * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.Length() * sizeof(int));
    int* slots = reinterpret_cast<int*>(CMSG_DATA(header));
    for (uint32_t i = 0; i < fds.Length(); i++) slots[i] = ToInt(fds[i]);
  }
  if (sendmsg(ToInt(info[0]), &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) ThrowErrno(info.Env(), errno, "sendmsg");
  return info.Env().Undefined();
}

static void CollectFds(msghdr* message, std::vector<int>* fds) {
  for (cmsghdr* header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const int* slots = reinterpret_cast<const int*>(CMSG_DATA(header));
    fds->insert(fds->end(), slots, slots + (header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  }
}

// One packet, whole: {data, fds}, or null where none waits. A packet of length 0 is the end of the peer.
// A packet above maxBytes is dropped and gives EMSGSIZE.
static Napi::Value ReceivePacket(const Napi::CallbackInfo& info) {
  const int fd = ToInt(info[0]);
  const size_t maxBytes = static_cast<size_t>(ToU64(info[1]));
  const ssize_t size = recv(fd, nullptr, 0, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
  if (size < 0 && errno == EAGAIN) return info.Env().Null();
  if (size < 0) ThrowErrno(info.Env(), errno, "recv");
  if (static_cast<size_t>(size) > maxBytes) {
    recv(fd, nullptr, 0, MSG_DONTWAIT);
    ThrowErrno(info.Env(), EMSGSIZE, "recv");
  }
  auto data = Napi::Buffer<char>::New(info.Env(), static_cast<size_t>(size));
  iovec part = {data.Data(), data.Length()};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxFds * sizeof(int))];
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0) ThrowErrno(info.Env(), errno, "recvmsg");
  std::vector<int> received;
  CollectFds(&message, &received);
  Napi::Array fds = Napi::Array::New(info.Env(), received.size());
  for (uint32_t i = 0; i < received.size(); i++) fds.Set(i, Napi::Number::New(info.Env(), received[i]));
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("data", data);
  result.Set("fds", fds);
  return result;
}

void InitSocket(Napi::Env env, Napi::Object exports) {
  exports.Set("socketpair", Napi::Function::New(env, Socketpair));
  exports.Set("connectUnix", Napi::Function::New(env, ConnectUnix));
  exports.Set("peerCredentials", Napi::Function::New(env, PeerCredentials));
  exports.Set("sendPacket", Napi::Function::New(env, SendPacket));
  exports.Set("receivePacket", Napi::Function::New(env, ReceivePacket));
}
