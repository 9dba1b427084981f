#include "nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "fail.h"
#include "plan.h"
#include "resolve.h"
#include "sys.h"

static int parent_of(int root, const char *step, const char *path, const char **name) {
  int parent = resolve_parent(root, path, name);
  if (parent < 0) fail(step, path);
  return parent;
}

// Mode by fchmodat after the making, so that the caller's umask plays no part. A link cannot stand in
// between: NAME was made by us in a folder that only root writes.
static void set_owner(int parent, const char *name, char **args, const char *step) {
  mode_t mode = (mode_t)plan_number(args[1]);
  if (fchownat(parent, name, (uid_t)plan_number(args[2]), (gid_t)plan_number(args[3]), AT_SYMLINK_NOFOLLOW) < 0)
    fail(step, args[0]);
  if (fchmodat(parent, name, mode, 0) < 0) fail(step, args[0]);
}

// Makes missing parents 0755; one that exists is left as it is.
static void make_parents(int root, const char *path) {
  char *copy = strdup(path);
  if (!copy) fail("folder", path);
  for (char *slash = copy + 1; (slash = strchr(slash, '/')); slash++) {
    *slash = 0;
    const char *name;
    int parent = parent_of(root, "folder", copy, &name);
    if (*name && mkdirat(parent, name, 0755) < 0 && errno != EEXIST) fail("folder", copy);
    close(parent);
    *slash = '/';
  }
  free(copy);
}

// Most have their parents: those are made only where one is missing.
static int folder_parent(int root, const char *path, const char **name) {
  int parent = resolve_parent(root, path, name);
  if (parent >= 0 || errno != ENOENT) return parent;
  make_parents(root, path);
  return resolve_parent(root, path, name);
}

void step_folder(int root, char **args) {
  const char *name;
  int parent = folder_parent(root, args[0], &name);
  if (parent < 0) fail("folder", args[0]);
  if (mkdirat(parent, name, 0755) == 0) {
    set_owner(parent, name, args, "folder");
  } else {
    if (errno != EEXIST) fail("folder", args[0]);
    struct stat st;
    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0) fail("folder", args[0]);
    if (S_ISLNK(st.st_mode)) fail_errno("folder", args[0], ELOOP);
    if (!S_ISDIR(st.st_mode)) fail_errno("folder", args[0], ENOTDIR);
  }
  close(parent);
}

void step_node(int root, char **args) {
  const char *name;
  int parent = parent_of(root, "node", args[0], &name);
  dev_t device = makedev((unsigned)plan_number(args[4]), (unsigned)plan_number(args[5]));
  if (mknodat(parent, name, S_IFCHR | 0600, device) < 0) fail("node", args[0]);
  set_owner(parent, name, args, "node");
  close(parent);
}

void step_link(int root, char **args) {
  const char *name;
  int parent = parent_of(root, "link", args[0], &name);
  if (symlinkat(args[1], parent, name) < 0) fail("link", args[0]);
  close(parent);
}

// A regular file that has no second name is written in place, which spares an overlay the whiteout of the old
// one. Anything else goes first: where it was a link, its target is never written.
static int fresh_file(int parent, const char *name) {
  int flags = O_WRONLY | O_NOFOLLOW | O_CLOEXEC;
  struct stat st;
  if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1)
    return openat(parent, name, flags | O_TRUNC);
  if (unlinkat(parent, name, 0) < 0 && errno != ENOENT) return -1;
  return openat(parent, name, flags | O_CREAT | O_EXCL, 0600);
}

void step_file(int root, char **args) {
  const char *name;
  int parent = parent_of(root, "file", args[0], &name);
  int fd = fresh_file(parent, name);
  if (fd < 0) fail("file", args[0]);
  for (size_t done = 0, all = strlen(args[4]); done < all;) {
    ssize_t wrote = write(fd, args[4] + done, all - done);
    if (wrote < 0) fail("file", args[0]);
    done += (size_t)wrote;
  }
  if (fchown(fd, (uid_t)plan_number(args[2]), (gid_t)plan_number(args[3])) < 0) fail("file", args[0]);
  if (fchmod(fd, (mode_t)plan_number(args[1])) < 0) fail("file", args[0]);
  close(fd);
  close(parent);
}
