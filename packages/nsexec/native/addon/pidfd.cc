// pidfd_open(2), pidfd_send_signal(2), and waitid(2) on a pidfd. A pidfd cannot come to mean another process.
#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "addon.h"

static Napi::Value PidfdOpen(const Napi::CallbackInfo& info) {
  const long fd = syscall(SYS_pidfd_open, ToInt(info[0]), 0);  // close-on-exec by definition
  if (fd < 0) ThrowErrno(info.Env(), errno, "pidfd_open");
  return Napi::Number::New(info.Env(), static_cast<double>(fd));
}

static Napi::Value PidfdSendSignal(const Napi::CallbackInfo& info) {
  if (syscall(SYS_pidfd_send_signal, ToInt(info[0]), ToInt(info[1]), nullptr, 0) != 0)
    ThrowErrno(info.Env(), errno, "pidfd_send_signal");
  return info.Env().Undefined();
}

// Reaps the process if it has ended: {pid, exited, status (exit code or signal)}, or null while it runs.
static Napi::Value WaitidPidfd(const Napi::CallbackInfo& info) {
  siginfo_t ended = {};
  if (waitid(P_PIDFD, static_cast<id_t>(ToInt(info[0])), &ended, WEXITED | WNOHANG) != 0) {
    if (errno == EAGAIN) return info.Env().Null();  // what a non-blocking pidfd gives for "still runs"
    ThrowErrno(info.Env(), errno, "waitid");
  }
  if (ended.si_pid == 0) return info.Env().Null();
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("pid", Napi::Number::New(info.Env(), ended.si_pid));
  result.Set("exited", Napi::Boolean::New(info.Env(), ended.si_code == CLD_EXITED));
  result.Set("status", Napi::Number::New(info.Env(), ended.si_status));
  return result;
}

void InitPidfd(Napi::Env env, Napi::Object exports) {
  exports.Set("pidfdOpen", Napi::Function::New(env, PidfdOpen));
  exports.Set("pidfdSendSignal", Napi::Function::New(env, PidfdSendSignal));
  exports.Set("waitidPidfd", Napi::Function::New(env, WaitidPidfd));
}
