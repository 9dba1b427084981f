// clone3(2) and execve(2): a child with exactly the descriptors it was given, in namespaces of its own.
//
// The child borrows the parent's memory until it executes (CLONE_VM | CLONE_VFORK, as posix_spawn does),
// so that the size of Node's process costs nothing. Until then it may only make system calls.
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "addon.h"

namespace {

struct FdPair {
  int source;
  int target;
};

// What the child tells its parent when it cannot execute.
struct ChildFailure {
  int error;
  int step;
};
enum Step { kDup, kCloseRange, kSetsid, kChdir, kExec };
const char* const kStepNames[] = {"dup2", "close_range", "setsid", "chdir", "execve"};

struct Order {
  std::string file;
  std::vector<char*> argv, env;
  std::vector<FdPair> fds;  // by ascending target
  const char* cwd;
  bool newSession;
  int report;  // the write end of the failure pipe
};

[[noreturn]] void Fail(int report, Step step) {
  const ChildFailure failure = {errno, step};
  const ssize_t written = write(report, &failure, sizeof failure);
  _exit(written == sizeof failure ? 127 : 126);
}

// Node ignores SIGPIPE and blocks signals around the clone; neither may reach the program.
void ResetSignals() {
  struct sigaction byDefault = {};
  byDefault.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; signal++) sigaction(signal, &byDefault, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void CloseOnExecBetween(unsigned first, unsigned last, int report) {
  if (first > last) return;
  if (syscall(SYS_close_range, first, last, CLOSE_RANGE_CLOEXEC) != 0) Fail(report, kCloseRange);
}

// Moves all sources above all targets first, so that a target never overwrites a source yet to come.
void ArrangeFds(Order* order) {
  const int above = order->fds.empty() ? 0 : order->fds.back().target + 1;
  const int report = fcntl(order->report, F_DUPFD_CLOEXEC, above);
  if (report < 0) Fail(order->report, kDup);
  for (FdPair& pair : order->fds) {
    pair.source = fcntl(pair.source, F_DUPFD_CLOEXEC, above);
    if (pair.source < 0) Fail(report, kDup);
  }
  order->report = report;
  unsigned next = 0;
  for (const FdPair& pair : order->fds) {
    if (dup2(pair.source, pair.target) < 0) Fail(report, kDup);
    const unsigned target = static_cast<unsigned>(pair.target);
    if (target > next) CloseOnExecBetween(next, target - 1, report);
    next = target + 1;
  }
  CloseOnExecBetween(next, ~0U, report);
}

[[noreturn]] __attribute__((noinline)) void RunChild(Order* order) {
  ResetSignals();
  ArrangeFds(order);
  if (order->newSession && setsid() < 0) Fail(order->report, kSetsid);
  if (order->cwd && chdir(order->cwd) != 0) Fail(order->report, kChdir);
  execve(order->file.c_str(), order->argv.data(), order->env.data());
  Fail(order->report, kExec);
}

// clone3 inline: the child continues on the parent's stack, where a call's return address would be
// overwritten before the parent came back to it. Returns -errno, or in the parent the pid.
__attribute__((noinline)) long CloneAndRun(clone_args* args, Order* order) {
  long result;
#if defined(__x86_64__)
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "0"(static_cast<long>(SYS_clone3)), "D"(args), "S"(sizeof *args)
                   : "rcx", "r11", "memory");
#elif defined(__aarch64__)
  register long number __asm__("x8") = SYS_clone3;
  register clone_args* x0 __asm__("x0") = args;
  register unsigned long x1 __asm__("x1") = sizeof *args;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(number), "r"(x1) : "memory");
  result = reinterpret_cast<long>(x0);
#else
#error "clone3 on this architecture has not been written yet"
#endif
  if (result == 0) RunChild(order);
  return result;
}

long CloneWithSignalsBlocked(clone_args* args, Order* order) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const long result = CloneAndRun(args, order);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

std::vector<std::string> ToStrings(const Napi::Value& value) {
  const auto array = value.As<Napi::Array>();
  std::vector<std::string> strings;
  for (uint32_t i = 0; i < array.Length(); i++) strings.push_back(array.Get(i).As<Napi::String>());
  return strings;
}

std::vector<char*> ToPointers(std::vector<std::string>* strings) {
  std::vector<char*> pointers;
  for (std::string& string : *strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<FdPair> ToFdPairs(const Napi::Value& value) {
  const auto array = value.As<Napi::Array>();
  std::vector<FdPair> pairs;
  for (uint32_t i = 0; i < array.Length(); i++) {
    const auto pair = array.Get(i).As<Napi::Object>();
    pairs.push_back({ToInt(pair.Get("source")), ToInt(pair.Get("target"))});
  }
  std::sort(pairs.begin(), pairs.end(), [](const FdPair& a, const FdPair& b) { return a.target < b.target; });
  return pairs;
}

// Reads the child's failure: false where the pipe closed by a successful execve.
bool ReadFailure(int fd, ChildFailure* failure) {
  ssize_t length;
  do length = read(fd, failure, sizeof *failure);
  while (length < 0 && errno == EINTR);
  return length == sizeof *failure;
}

// spawn({file, argv, env, fds, flags, cgroupFd, cwd, newSession}) -> {pid, pidfd}, after the execve.
Napi::Value Spawn(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto options = info[0].As<Napi::Object>();
  auto argv = ToStrings(options.Get("argv")), environment = ToStrings(options.Get("env"));
  const OptionalString cwd(options.Get("cwd"));
  Order order = {options.Get("file").As<Napi::String>(),
                 ToPointers(&argv),
                 ToPointers(&environment),
                 ToFdPairs(options.Get("fds")),
                 cwd.c_str(),
                 options.Get("newSession").ToBoolean(),
                 -1};
  int pipeEnds[2];
  if (pipe2(pipeEnds, O_CLOEXEC) != 0) ThrowErrno(env, errno, "pipe2");
  ScopedFd readEnd(pipeEnds[0]), writeEnd(pipeEnds[1]);
  order.report = writeEnd.get();

  int pidfd = -1;
  clone_args args = {};
  args.flags = ToU64(options.Get("flags")) | CLONE_PIDFD | CLONE_VM | CLONE_VFORK;
  args.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  if (!options.Get("cgroupFd").IsUndefined()) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = ToU64(options.Get("cgroupFd"));
  }
  const long pid = CloneWithSignalsBlocked(&args, &order);
  if (pid < 0) ThrowErrno(env, static_cast<int>(-pid), "clone3", order.file);
  ScopedFd process(pidfd);

  writeEnd.reset(-1);
  ChildFailure failure;
  if (ReadFailure(readEnd.get(), &failure)) {
    siginfo_t ended;
    waitid(P_PIDFD, static_cast<id_t>(process.get()), &ended, WEXITED);
    const bool atCwd = failure.step == kChdir && cwd.c_str();
    ThrowErrno(env, failure.error, kStepNames[failure.step], atCwd ? cwd.c_str() : order.file);
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("pid", Napi::Number::New(env, static_cast<double>(pid)));
  result.Set("pidfd", Napi::Number::New(env, process.release()));
  return result;
}

}  // namespace

void InitSpawn(Napi::Env env, Napi::Object exports) { exports.Set("spawn", Napi::Function::New(env, Spawn)); }
