// Files by descriptor and without following links: openat2(2), readlinkat(2), mknod(2), flock(2), xattr(7).
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <climits>
#include <vector>

#include "addon.h"

static Napi::Value Openat2(const Napi::CallbackInfo& info) {
  const std::string path = info[1].As<Napi::String>();
  open_how how = {};
  how.flags = ToU64(info[2]) | O_CLOEXEC;
  how.mode = ToU64(info[3]);
  how.resolve = ToU64(info[4]);
  const long fd = syscall(SYS_openat2, ToInt(info[0]), path.c_str(), &how, sizeof how);
  if (fd < 0) ThrowErrno(info.Env(), errno, "openat2", path);
  return Napi::Number::New(info.Env(), static_cast<double>(fd));
}

static Napi::Value Readlinkat(const Napi::CallbackInfo& info) {
  const std::string path = info[1].As<Napi::String>();
  char target[PATH_MAX];
  const ssize_t length = readlinkat(ToInt(info[0]), path.c_str(), target, sizeof target);
  if (length < 0) ThrowErrno(info.Env(), errno, "readlinkat", path);
  return Napi::Buffer<char>::Copy(info.Env(), target, static_cast<size_t>(length));
}

static Napi::Value Flock(const Napi::CallbackInfo& info) {
  if (flock(ToInt(info[0]), ToInt(info[1])) != 0) ThrowErrno(info.Env(), errno, "flock");
  return info.Env().Undefined();
}

static Napi::Value Lgetxattr(const Napi::CallbackInfo& info) {
  const std::string path = info[0].As<Napi::String>(), name = info[1].As<Napi::String>();
  std::vector<char> value(XATTR_SIZE_MAX);
  const ssize_t length = lgetxattr(path.c_str(), name.c_str(), value.data(), value.size());
  if (length < 0) ThrowErrno(info.Env(), errno, "lgetxattr", path);
  return Napi::Buffer<char>::Copy(info.Env(), value.data(), static_cast<size_t>(length));
}

static Napi::Value Mknod(const Napi::CallbackInfo& info) {
  const std::string path = info[0].As<Napi::String>();
  if (mknod(path.c_str(), static_cast<mode_t>(ToInt(info[1])), static_cast<dev_t>(ToU64(info[2]))) != 0)
    ThrowErrno(info.Env(), errno, "mknod", path);
  return info.Env().Undefined();
}

static Napi::Value Getxattr(const Napi::CallbackInfo& info) {
  const std::string path = info[0].As<Napi::String>(), name = info[1].As<Napi::String>();
  std::vector<char> value(XATTR_SIZE_MAX);
  const ssize_t length = getxattr(path.c_str(), name.c_str(), value.data(), value.size());
  if (length < 0) ThrowErrno(info.Env(), errno, "getxattr", path);
  return Napi::Buffer<char>::Copy(info.Env(), value.data(), static_cast<size_t>(length));
}

static Napi::Value Lsetxattr(const Napi::CallbackInfo& info) {
  const std::string path = info[0].As<Napi::String>(), name = info[1].As<Napi::String>();
  const auto value = info[2].As<Napi::Buffer<char>>();
  if (lsetxattr(path.c_str(), name.c_str(), value.Data(), value.Length(), ToInt(info[3])) != 0)
    ThrowErrno(info.Env(), errno, "lsetxattr", path);
  return info.Env().Undefined();
}

static Napi::Value Llistxattr(const Napi::CallbackInfo& info) {
  const std::string path = info[0].As<Napi::String>();
  std::vector<char> names(XATTR_LIST_MAX);
  const ssize_t length = llistxattr(path.c_str(), names.data(), names.size());
  if (length < 0) ThrowErrno(info.Env(), errno, "llistxattr", path);
  return Napi::Buffer<char>::Copy(info.Env(), names.data(), static_cast<size_t>(length));
}

void InitFile(Napi::Env env, Napi::Object exports) {
  exports.Set("openat2", Napi::Function::New(env, Openat2));
  exports.Set("readlinkat", Napi::Function::New(env, Readlinkat));
  exports.Set("mknod", Napi::Function::New(env, Mknod));
  exports.Set("flock", Napi::Function::New(env, Flock));
  exports.Set("getxattr", Napi::Function::New(env, Getxattr));
  exports.Set("lgetxattr", Napi::Function::New(env, Lgetxattr));
  exports.Set("lsetxattr", Napi::Function::New(env, Lsetxattr));
  exports.Set("llistxattr", Napi::Function::New(env, Llistxattr));
}
