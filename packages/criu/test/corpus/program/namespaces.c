#include "corpus.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

static pid_t child;
static int flags;

static void unshare_flags(void) {
  if (unshare(flags) < 0) _exit(errno);
}
static void child_in(int wanted) {
  flags = wanted;
  /* Refused where the child could not: then its answer never comes. */
  int status;
  pid_t probe = (pid_t)must(fork());
  if (probe == 0) _exit(unshare(wanted) < 0 ? errno : 0);
  must(waitpid(probe, &status, 0));
  errno = WEXITSTATUS(status);
  must(errno ? -1 : 0);
  child = child_that(unshare_flags);
}
static const char *child_lives(void) { return kill(child, 0) == 0 ? NULL : lost("the process in it"); }

static void namespace_mount_set_up(void) { child_in(CLONE_NEWNS); }
#define namespace_mount_check child_lives

static void private_tmpfs(void) {
  if (unshare(CLONE_NEWNS) < 0 || mount("tmpfs", "/mnt", "tmpfs", 0, NULL) < 0) _exit(errno);
  close(file_with("/mnt/file", "inside"));
}
static void namespace_mount_tmpfs_set_up(void) { child = child_that(private_tmpfs); }
static const char *namespace_mount_tmpfs_check(void) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/root/mnt/file", child);
  return file_holds(path, "inside") ? NULL : lost("the content of its own mount");
}

static void namespace_net_set_up(void) { child_in(CLONE_NEWNET); }
#define namespace_net_check child_lives
static void namespace_user_set_up(void) { child_in(CLONE_NEWUSER); }
#define namespace_user_check child_lives
static void namespace_ipc_set_up(void) { child_in(CLONE_NEWIPC); }
#define namespace_ipc_check child_lives
static void namespace_uts_set_up(void) { child_in(CLONE_NEWUTS); }
#define namespace_uts_check child_lives
static void namespace_cgroup_set_up(void) { child_in(CLONE_NEWCGROUP); }
#define namespace_cgroup_check child_lives

/* Of its children to come alone: it has none yet. */
static void namespace_pid_to_come_set_up(void) { child_in(CLONE_NEWPID); }
#define namespace_pid_to_come_check child_lives
static void namespace_time_to_come_set_up(void) { child_in(CLONE_NEWTIME); }
#define namespace_time_to_come_check child_lives

static void with_grandchild(void) {
  unshare_flags();
  idle_child();
}
static void namespace_pid_set_up(void) {
  flags = CLONE_NEWPID;
  child = child_that(with_grandchild);
}
#define namespace_pid_check child_lives
static void namespace_time_set_up(void) {
  flags = CLONE_NEWTIME;
  child = child_that(with_grandchild);
}
#define namespace_time_check child_lives

/* As Chromium's zygote stands in its sandbox. */
static void browser_sandbox_set_up(void) {
  int status;
  child = (pid_t)must(syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | SIGCHLD, NULL, NULL, NULL, 0));
  if (child == 0) {
    execl("/usr/bin/corpus", "chrome", "--type=zygote", (char *)NULL);
    _exit(9);
  }
  usleep(50000);
  must(waitpid(child, &status, WNOHANG) == 0 ? 0 : -1);
}
#define browser_sandbox_check child_lives

static void hostname_set_set_up(void) { must(sethostname("renamed", 7)); }
static const char *hostname_set_check(void) {
  char found[64] = "";
  must(gethostname(found, sizeof found));
  return strcmp(found, "renamed") == 0 ? NULL : lost("the host name");
}

const struct corpus_case namespace_cases[] = {
    CASE(namespace_mount),
    CASE(namespace_mount_tmpfs),
    CASE(namespace_net),
    CASE(namespace_user),
    CASE(namespace_ipc),
    CASE(namespace_uts),
    CASE(namespace_cgroup),
    CASE(namespace_pid_to_come),
    CASE(namespace_time_to_come),
    CASE(namespace_pid),
    CASE(namespace_time),
    CASE(browser_sandbox),
    CASE(hostname_set),
    {0},
};
