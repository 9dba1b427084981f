// The addon's shared vocabulary. Each file of this folder wraps one family of system calls and
// holds no policy: what to call, when, and what to do about a failure is decided in TypeScript.
#pragma once

#include <napi.h>

#include <string>

// Throws a Node-style error: message "EPERM: Operation not permitted, mount '/x'", properties
// code, errno (negative, as in Node's own errors), syscall and, where given, path.
[[noreturn]] void ThrowErrno(Napi::Env env, int error, const char* syscall, const std::string& path = "");

// An optional string argument: undefined and null give nullptr, so that a NULL reaches the kernel.
class OptionalString {
 public:
  explicit OptionalString(const Napi::Value& value);
  const char* c_str() const { return present_ ? value_.c_str() : nullptr; }

 private:
  bool present_;
  std::string value_;
};

// A file descriptor that is closed by scope unless released.
class ScopedFd {
 public:
  explicit ScopedFd(int fd = -1) : fd_(fd) {}
  ~ScopedFd();
  ScopedFd(const ScopedFd&) = delete;
  ScopedFd& operator=(const ScopedFd&) = delete;
  int get() const { return fd_; }
  void reset(int fd);
  int release();

 private:
  int fd_;
};

int ToInt(const Napi::Value& value);
uint64_t ToU64(const Napi::Value& value);  // from a number or a bigint

void InitFile(Napi::Env env, Napi::Object exports);
void InitLoop(Napi::Env env, Napi::Object exports);
void InitMount(Napi::Env env, Napi::Object exports);
void InitNamespace(Napi::Env env, Napi::Object exports);
void InitPidfd(Napi::Env env, Napi::Object exports);
void InitSocket(Napi::Env env, Napi::Object exports);
void InitSpawn(Napi::Env env, Napi::Object exports);
void InitWatch(Napi::Env env, Napi::Object exports);
