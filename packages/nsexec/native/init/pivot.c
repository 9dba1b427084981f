#include "pivot.h"

#include <stddef.h>
#include <sys/mount.h>

#include "fail.h"
#include "sys.h"

void root_make_private(void) {
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) fail("private", "/");
}

int root_bind(const char *root) {
  if (mount(root, root, NULL, MS_BIND | MS_REC, NULL) < 0) fail("root", root);
  int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) fail("root", root);
  return fd;
}

// With put_old being the new root itself the old one is stacked on top of it (pivot_root(2), NOTES): no
// folder for it has to be made in the session's upper.
void root_pivot(int root) {
  if (fchdir(root) < 0) fail("pivot", "fchdir");
  if (sys_pivot_root(".", ".") < 0) fail("pivot", "pivot_root");
  if (umount2(".", MNT_DETACH) < 0) fail("pivot", "detach old root");
  if (chdir("/") < 0) fail("pivot", "chdir");
}
