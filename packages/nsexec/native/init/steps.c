#include "steps.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "bounds.h"
#include "fail.h"
#include "masks.h"
#include "nodes.h"
#include "resolve.h"
#include "sys.h"

static int target_of(int root, const char *step, const char *path) {
  int fd = resolve_target(root, path);
  if (fd < 0) fail(step, path);
  return fd;
}

static void step_mount(int root, char **args) {
  char path[32];
  int target = target_of(root, "mount", args[0]);
  if (mount(args[1], fd_path(target, path), args[2], plan_number(args[3]), args[4]) < 0) fail("mount", args[0]);
  close(target);
}

// Flags are added by mount_setattr and not by a remount: a remount would have to repeat the flags that a
// user namespace locked. MS_RDONLY, MS_NOSUID, MS_NODEV and MS_NOEXEC have the MOUNT_ATTR_ values.
static void add_flags(int root, const char *step, const char *path, uint64_t flags) {
  struct mount_attr attr = {.attr_set = flags};
  int mounted = target_of(root, step, path);
  if (flags & ~(uint64_t)(MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)) fail_errno(step, path, EINVAL);
  if (flags && sys_mount_setattr(mounted, "", AT_EMPTY_PATH, &attr) < 0) fail(step, path);
  close(mounted);
}

static void bind(int root, const char *step, const char *source, const char *path, unsigned long recursive) {
  char buffer[32];
  int target = target_of(root, step, path);
  if (mount(source, fd_path(target, buffer), NULL, MS_BIND | recursive, NULL) < 0) fail(step, path);
  close(target);
}

static void bind_in_root(int root, const char *step, const char *source, const char *path, unsigned long recursive) {
  char buffer[32];
  int fd = target_of(root, step, source);
  bind(root, step, fd_path(fd, buffer), path, recursive);
  close(fd);
}

static void attach(int tree, int root, const char *path) {
  int target = target_of(root, "bind", path);
  if (sys_move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0) fail("bind", path);
  close(target);
  close(tree);
}

static int is_host_bind(const struct step *step) {
  return step->kind == STEP_BIND && !plan_number(step->args[2]);
}

static int take_source(char **args) {
  unsigned recursive = plan_number(args[3]) ? AT_RECURSIVE : 0;
  int tree = sys_open_tree(AT_FDCWD, args[1], OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | recursive);
  if (tree < 0) fail("bind", args[1]);
  return tree;
}

void steps_take_sources(const struct steps *steps) {
  for (size_t i = 0; i < steps->count; i++)
    if (is_host_bind(&steps->list[i])) steps->list[i].tree = take_source(steps->list[i].args);
}

static void step_bind(int root, const struct step *step) {
  char **args = step->args;
  if (!is_host_bind(step)) bind_in_root(root, "bind", args[1], args[0], plan_number(args[3]) ? MS_REC : 0);
  else attach(step->tree ? step->tree : take_source(args), root, args[0]);
  add_flags(root, "bind", args[0], plan_number(args[4]));
}

// A clone of the mount that holds SOURCE, whose on-disk ids 0… appear as the plan's base….
static void step_layer(const struct step_context *context, char **args) {
  struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP | MOUNT_ATTR_RDONLY, .userns_fd = (uint64_t)context->userns_fd};
  if (context->userns_fd < 0) fail_errno("layer", args[1], EINVAL);
  int target = target_of(context->root, "layer", args[0]);
  int tree = sys_open_tree(AT_FDCWD, args[1], OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (tree < 0) fail("layer", args[1]);
  if (sys_mount_setattr(tree, "", AT_EMPTY_PATH, &attr) < 0) fail("layer", args[1]);
  if (sys_move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
    fail("layer", args[0]);
  close(tree);
  close(target);
}

static void step_propagation(int root, char **args) {
  char path[32];
  int target = target_of(root, "propagation", args[0]);
  unsigned long flags = plan_number(args[1]) | (plan_number(args[2]) ? MS_REC : 0);
  if (mount(NULL, fd_path(target, path), NULL, flags, NULL) < 0) fail("propagation", args[0]);
  close(target);
}

static void run(const struct step *step, struct step_context *context) {
  switch (step->kind) {
    case STEP_MOUNT: return step_mount(context->root, step->args);
    case STEP_BIND: return step_bind(context->root, step);
    case STEP_LAYER: return step_layer(context, step->args);
    case STEP_REMOUNT: return add_flags(context->root, "remount", step->args[0], plan_number(step->args[1]));
    case STEP_READ_ONLY: return step_read_only(context->root, step->args);
    case STEP_MASK: return step_mask(context, step->args);
    case STEP_FOLDER: return step_folder(context->root, step->args);
    case STEP_NODE: return step_node(context->root, step->args);
    case STEP_LINK: return step_link(context->root, step->args);
    case STEP_FILE: return step_file(context->root, step->args);
    case STEP_PID_MAX: return bound_pids(context->root, step->args[0]);
    case STEP_PROPAGATION: return step_propagation(context->root, step->args);
  }
}

void steps_run(const struct steps *steps, struct step_context *context) {
  for (size_t i = 0; i < steps->count; i++) run(&steps->list[i], context);
}
