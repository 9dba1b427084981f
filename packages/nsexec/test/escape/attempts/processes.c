// Other processes: the host's, PID 1, helpers that come in, and more of the machine than was given.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "attempt.h"

static int signal_host(void) { return refusal(kill(bait.host_pid, 0)); }
static int pidfd_host(void) { return refusal(syscall(SYS_pidfd_open, bait.host_pid, 0)); }

static int reads_word(const char *pid) {
  char path[300], text[4096];
  snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
  int fd = open(path, O_RDONLY);
  if (fd < 0) return 0;
  ssize_t length = read(fd, text, sizeof text);
  close(fd);
  return length > 0 && memmem(text, (size_t)length, bait.host_word, strlen(bait.host_word)) != NULL;
}

// Our own command line and our parent's hold the word too: those of init's children are passed over by their argv[0].
static int host_processes(void) {
  DIR *folder = opendir("/proc");
  if (!folder) return errno;
  for (struct dirent *entry; (entry = readdir(folder));) {
    char path[300], name[64] = {0};
    snprintf(path, sizeof path, "/proc/%s/comm", entry->d_name);
    int fd = open(path, O_RDONLY);
    if (fd < 0) continue;
    (void)!read(fd, name, sizeof name - 1);
    close(fd);
    if (strncmp(name, "attempts", 8) != 0 && reads_word(entry->d_name)) return 0;
  }
  return ENODATA;
}

static int trace_init(void) { return refusal(ptrace(PTRACE_ATTACH, 1, 0, 0)); }
static int write_init(void) {
  char byte = 0;
  struct iovec local = {&byte, 1}, remote = {(void *)0x400000, 1};
  return refusal(process_vm_writev(1, &local, 1, &remote, 1, 0));
}
static int memory_of_init(void) { return refusal(open("/proc/1/mem", O_RDWR)); }
static int descriptor_of_init(void) {
  int fd = (int)syscall(SYS_pidfd_open, 1, 0);
  if (fd < 0) return errno;
  return refusal(syscall(SYS_pidfd_getfd, fd, 0, 0));
}
static int compare_init(void) { return refusal(syscall(SYS_kcmp, getpid(), 1, 0, 0, 0)); }
static int advise_init(void) {
  int fd = (int)syscall(SYS_pidfd_open, 1, 0);
  if (fd < 0) return errno;
  struct iovec range = {(void *)0x400000, 4096};
  return refusal(syscall(SYS_process_madvise, fd, &range, 1, 21 /* MADV_PAGEOUT */, 0));
}

// What the host starts inside is a file of the host for a moment: whoever writes it runs on the host next
// (CVE-2019-5736). The host keeps entering while this runs.
static int overwrite_helper(void) {
  struct stat root, file;
  if (stat("/", &root) < 0) return errno;
  int error = ENODATA;
  for (time_t end = time(NULL) + 2; time(NULL) < end;) {
    DIR *folder = opendir("/proc");
    if (!folder) return errno;
    for (struct dirent *entry; (entry = readdir(folder));) {
      char path[300];
      int pid = atoi(entry->d_name);
      if (pid <= 1 || pid == getpid() || pid == getppid()) continue;
      snprintf(path, sizeof path, "/proc/%d/exe", pid);
      // The session's own files are its own to write.
      if (stat(path, &file) == 0 && file.st_dev == root.st_dev) continue;
      int fd = open(path, O_WRONLY | O_CLOEXEC);
      if (fd < 0) {
        if (errno == EACCES || errno == EPERM) error = errno;
        continue;
      }
      int outside = fstat(fd, &file) == 0 && file.st_dev != root.st_dev;
      close(fd);
      if (outside) return 0;
    }
    closedir(folder);
  }
  return error;
}

// Anything but stdio and what this process opened itself came from outside.
static int leaked_descriptor(void) {
  for (int fd = 3; fd < 1024; fd++)
    if (fcntl(fd, F_GETFD) >= 0) return 0;
  return ENODATA;
}

static int raise_limit(int resource) {
  struct rlimit limit;
  if (getrlimit((__rlimit_resource_t)resource, &limit) < 0) return errno;
  if (limit.rlim_max == RLIM_INFINITY) return ENODATA;
  limit.rlim_max += 1;
  return refusal(setrlimit((__rlimit_resource_t)resource, &limit));
}
static int raise_files(void) { return raise_limit(RLIMIT_NOFILE); }
static int raise_locked(void) { return raise_limit(RLIMIT_MEMLOCK); }
static int raise_nice(void) { return refusal(setpriority(PRIO_PROCESS, 0, -5)); }
static int realtime(void) {
  struct sched_param param = {.sched_priority = 1};
  return refusal(sched_setscheduler(0, SCHED_FIFO, &param));
}

static const struct attempt LIST[] = {
    {"signal-host-process", signal_host}, {"pidfd-host-process", pidfd_host},   {"see-host-process", host_processes},
    {"trace-init", trace_init},           {"write-init", write_init},           {"open-init-memory", memory_of_init},
    {"take-init-descriptor", descriptor_of_init}, {"compare-with-init", compare_init}, {"advise-init", advise_init},
    {"overwrite-helper", overwrite_helper}, {"leaked-descriptor", leaked_descriptor}, {"raise-nofile", raise_files},
    {"raise-memlock", raise_locked},      {"negative-nice", raise_nice},        {"realtime-scheduling", realtime},
};
const struct attempts PROCESSES = {LIST, sizeof LIST / sizeof *LIST};
