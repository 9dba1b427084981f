#include "corpus.h"

#include <poll.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>

static int fd;

static void watch(const char *path, uint32_t events) {
  fd = (int)must(inotify_init1(IN_NONBLOCK));
  must(inotify_add_watch(fd, path, events));
}
static int has_event(void) {
  struct pollfd wanted = {.fd = fd, .events = POLLIN};
  return poll(&wanted, 1, 300) == 1;
}
static int keeps_watch(const char *word) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  return file_holds(path, word);
}
static const char *tells_of(const char *path) {
  close(file_with(path, "x"));
  return has_event() ? NULL : lost("the watch");
}
static const char *watch_kept(void) { return keeps_watch("inotify wd") ? NULL : lost("the watch"); }

static void inotify_upper_set_up(void) {
  must(mkdir("/home/folder", 0755));
  watch("/home/folder", IN_CREATE);
}
static const char *inotify_upper_check(void) { return tells_of("/home/folder/new"); }

static void inotify_lower_set_up(void) { watch("/lower", IN_CREATE); }
static const char *inotify_lower_check(void) { return tells_of("/lower/new"); }

static void inotify_lower_file_set_up(void) { watch("/lower/file", IN_CLOSE_WRITE); }
#define inotify_lower_file_check watch_kept

static void inotify_tmpfs_set_up(void) {
  must(mkdir("/tmp/folder", 0755));
  watch("/tmp/folder", IN_CREATE);
}
static const char *inotify_tmpfs_check(void) { return tells_of("/tmp/folder/new"); }

static void inotify_dev_set_up(void) { watch("/dev", IN_CREATE); }
static const char *inotify_dev_check(void) { return tells_of("/dev/new"); }

static void inotify_devpts_set_up(void) { watch("/dev/pts", IN_CREATE); }
#define inotify_devpts_check watch_kept

static void inotify_proc_set_up(void) { watch("/proc/self", IN_CREATE); }
#define inotify_proc_check watch_kept

static void inotify_sys_set_up(void) { watch("/sys/class", IN_CREATE); }
#define inotify_sys_check watch_kept

static void inotify_mqueue_set_up(void) { watch("/dev/mqueue", IN_CREATE); }
#define inotify_mqueue_check watch_kept

/* On a folder of the host that the session's plan binds. */
static void inotify_external_set_up(void) {
  must(access("/mnt/host", F_OK));
  watch("/mnt", IN_CREATE);
}
static const char *inotify_external_check(void) { return tells_of("/mnt/new"); }

static void inotify_deleted_set_up(void) {
  must(mkdir("/home/folder", 0755));
  int held = (int)must(open("/home/folder", O_RDONLY));
  watch("/home/folder", IN_CREATE);
  must(rmdir("/home/folder"));
  must(held);
}
#define inotify_deleted_check lives_on

static void inotify_without_watch_set_up(void) { fd = (int)must(inotify_init1(IN_NONBLOCK)); }
static const char *inotify_without_watch_check(void) {
  return inotify_add_watch(fd, "/home", IN_CREATE) > 0 ? tells_of("/home/new") : lost("the descriptor");
}

static void inotify_queued_set_up(void) {
  inotify_upper_set_up();
  close(file_with("/home/folder/before", "x"));
}
static const char *inotify_queued_check(void) { return has_event() ? NULL : lost("the event that had been queued"); }

static void fan(uint32_t flags, uint32_t mark, const char *path) {
  fd = (int)must(fanotify_init(FAN_CLASS_NOTIF | FAN_NONBLOCK, 0));
  must(fanotify_mark(fd, FAN_MARK_ADD | flags, mark, AT_FDCWD, path));
}
static void fanotify_inode_set_up(void) { fan(0, FAN_CLOSE_WRITE | FAN_EVENT_ON_CHILD, "/tmp"); }
static const char *fanotify_inode_check(void) { return tells_of("/tmp/new"); }

static void fanotify_mount_set_up(void) { fan(FAN_MARK_MOUNT, FAN_CLOSE_WRITE, "/tmp"); }
#define fanotify_mount_check fanotify_inode_check

static void fanotify_filesystem_set_up(void) { fan(FAN_MARK_FILESYSTEM, FAN_CLOSE_WRITE, "/tmp"); }
#define fanotify_filesystem_check fanotify_inode_check

static void fanotify_overlay_set_up(void) { fan(0, FAN_CLOSE_WRITE | FAN_EVENT_ON_CHILD, "/home"); }
static const char *fanotify_overlay_check(void) { return tells_of("/home/new"); }

static void fanotify_named_set_up(void) {
  fd = (int)must(fanotify_init(FAN_CLASS_NOTIF | FAN_NONBLOCK | FAN_REPORT_DFID_NAME, 0));
  must(fanotify_mark(fd, FAN_MARK_ADD, FAN_CREATE, AT_FDCWD, "/tmp"));
}
#define fanotify_named_check fanotify_inode_check

static void fanotify_proc_set_up(void) { fan(0, FAN_OPEN, "/proc/self/status"); }
static const char *fanotify_proc_check(void) { return keeps_watch("fanotify ino") ? NULL : lost("the mark"); }

const struct corpus_case watch_cases[] = {
    CASE(inotify_upper),
    CASE(inotify_lower),
    CASE(inotify_lower_file),
    CASE(inotify_tmpfs),
    CASE(inotify_dev),
    CASE(inotify_devpts),
    CASE(inotify_proc),
    CASE(inotify_sys),
    CASE(inotify_mqueue),
    CASE(inotify_deleted),
    CASE(inotify_external),
    CASE(inotify_without_watch),
    CASE(inotify_queued),
    CASE(fanotify_inode),
    CASE(fanotify_mount),
    CASE(fanotify_filesystem),
    CASE(fanotify_overlay),
    CASE(fanotify_named),
    CASE(fanotify_proc),
    {0},
};
