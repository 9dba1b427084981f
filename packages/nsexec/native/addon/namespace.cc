// What is set in a namespace of others: on a thread of its own that joins it and ends with the call, so that this
// process stays where it is.
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "addon.h"

struct Refusal {
  int error = 0;
  const char* syscall = "";
};

// Runs BODY in the namespace of FD; setns(2) changes the calling thread alone for these kinds.
template <typename Body>
static void InNamespace(const Napi::CallbackInfo& info, int fd, int kind, Body body) {
  Refusal refusal;
  std::thread([&] {
    if (setns(fd, kind) != 0) refusal = {errno, "setns"};
    else refusal = body();
  }).join();
  if (refusal.error != 0) ThrowErrno(info.Env(), refusal.error, refusal.syscall);
}

static Napi::Value SetHostnameIn(const Napi::CallbackInfo& info) {
  const std::string name = info[1].As<Napi::String>();
  InNamespace(info, ToInt(info[0]), CLONE_NEWUTS, [&]() -> Refusal {
    if (sethostname(name.c_str(), name.size()) != 0) return {errno, "sethostname"};
    return {};
  });
  return info.Env().Undefined();
}

static Napi::Value SetLinkUpIn(const Napi::CallbackInfo& info) {
  const std::string name = info[1].As<Napi::String>();
  ifreq request = {};
  if (name.size() >= sizeof request.ifr_name) ThrowErrno(info.Env(), ENAMETOOLONG, "ioctl SIOCGIFFLAGS", name);
  std::memcpy(request.ifr_name, name.c_str(), name.size() + 1);
  InNamespace(info, ToInt(info[0]), CLONE_NEWNET, [&]() -> Refusal {
    ScopedFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (fd.get() < 0) return {errno, "socket"};
    if (ioctl(fd.get(), SIOCGIFFLAGS, &request) != 0) return {errno, "ioctl SIOCGIFFLAGS"};
    request.ifr_flags |= IFF_UP;
    if (ioctl(fd.get(), SIOCSIFFLAGS, &request) != 0) return {errno, "ioctl SIOCSIFFLAGS"};
    return {};
  });
  return info.Env().Undefined();
}

void InitNamespace(Napi::Env env, Napi::Object exports) {
  exports.Set("setHostnameIn", Napi::Function::New(env, SetHostnameIn));
  exports.Set("setLinkUpIn", Napi::Function::New(env, SetLinkUpIn));
}
