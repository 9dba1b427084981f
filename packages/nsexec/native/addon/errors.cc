#include <string.h>
#include <unistd.h>

#include "addon.h"

void ThrowErrno(Napi::Env env, int error, const char* syscall, const std::string& path) {
  const char* name = strerrorname_np(error);
  const std::string code = name ? name : "E" + std::to_string(error);
  const char* description = strerrordesc_np(error);
  std::string message = code + ": " + (description ? description : "unknown error") + ", " + syscall;
  if (!path.empty()) message += " '" + path + "'";
  Napi::Error thrown = Napi::Error::New(env, message);
  thrown.Set("code", Napi::String::New(env, code));
  thrown.Set("errno", Napi::Number::New(env, -error));
  thrown.Set("syscall", Napi::String::New(env, syscall));
  if (!path.empty()) thrown.Set("path", Napi::String::New(env, path));
  throw thrown;
}

OptionalString::OptionalString(const Napi::Value& value) : present_(!value.IsUndefined() && !value.IsNull()) {
  if (present_) value_ = value.As<Napi::String>().Utf8Value();
}

ScopedFd::~ScopedFd() { reset(-1); }

void ScopedFd::reset(int fd) {
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
}

int ScopedFd::release() {
  const int fd = fd_;
  fd_ = -1;
  return fd;
}

int ToInt(const Napi::Value& value) { return value.As<Napi::Number>().Int32Value(); }

uint64_t ToU64(const Napi::Value& value) {
  if (value.IsBigInt()) {
    bool lossless = false;
    return value.As<Napi::BigInt>().Uint64Value(&lossless);
  }
  return static_cast<uint64_t>(value.As<Napi::Number>().Int64Value());
}
