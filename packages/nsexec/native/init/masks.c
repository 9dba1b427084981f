#include "masks.h"

#include <errno.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "fail.h"
#include "resolve.h"
#include "sys.h"

// Kernels differ in what /proc and /sys hold: -1 for what is absent.
static int existing(int root, const char *step, const char *path) {
  int fd = resolve_target(root, path);
  if (fd < 0 && errno != ENOENT) fail(step, path);
  return fd;
}

static int clone_of(int fd, unsigned flags, const char *step, const char *path) {
  int tree = sys_open_tree(fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | flags);
  if (tree < 0) fail(step, path);
  return tree;
}

static void cover(int target, int tree, const char *step, const char *path) {
  if (sys_move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0) fail(step, path);
  close(tree);
  close(target);
}

void step_read_only(int root, char **args) {
  struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
  int target = existing(root, "read-only", args[0]);
  if (target < 0) return;
  int tree = clone_of(target, AT_RECURSIVE, "read-only", args[0]);
  if (sys_mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr) < 0) fail("read-only", args[0]);
  cover(target, tree, "read-only", args[0]);
}

static void mask_file(struct step_context *context, int target, const char *path) {
  if (!context->null_fd && (context->null_fd = resolve_target(context->root, "/dev/null")) < 0) fail("mask", "/dev/null");
  cover(target, clone_of(context->null_fd, 0, "mask", path), "mask", path);
}

// One empty filesystem for all of them: each of its own would be made, dumped and restored on its own.
static void mask_folder(struct step_context *context, int target, const char *path) {
  char buffer[32];
  unsigned long flags = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (context->empty_fd) {
    cover(target, clone_of(context->empty_fd, 0, "mask", path), "mask", path);
    return;
  }
  if (mount("tmpfs", fd_path(target, buffer), "tmpfs", flags, "mode=555,size=4k,nr_inodes=2") < 0) fail("mask", path);
  close(target);
  if ((context->empty_fd = resolve_target(context->root, path)) < 0) fail("mask", path);
}

void step_mask(struct step_context *context, char **args) {
  struct stat st;
  int target = existing(context->root, "mask", args[0]);
  if (target < 0) return;
  if (fstat(target, &st) < 0) fail("mask", args[0]);
  if (S_ISDIR(st.st_mode)) mask_folder(context, target, args[0]);
  else mask_file(context, target, args[0]);
}
