// The plan as drums-init reads it: records `VERB\0COUNT\0ARG\0…`, in one packet that begins with PLAN_MAGIC.
// It is validated whole before anything is done; src/plan/encode.ts writes it.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAN_MAGIC "drums-plan-1"
enum { PLAN_MAX_BYTES = 256 * 1024 };

enum step_kind {
  STEP_MOUNT,      // TARGET SOURCE FSTYPE FLAGS DATA
  STEP_BIND,       // TARGET SOURCE FROM_ROOT RECURSIVE FLAGS
  STEP_LAYER,      // TARGET SOURCE
  STEP_REMOUNT,    // TARGET FLAGS
  STEP_READ_ONLY,  // TARGET
  STEP_MASK,       // TARGET
  STEP_FOLDER,     // PATH MODE UID GID
  STEP_NODE,       // PATH MODE UID GID MAJOR MINOR
  STEP_LINK,       // PATH TARGET
  STEP_FILE,       // PATH MODE UID GID CONTENT
  STEP_PROPAGATION,  // TARGET FLAG RECURSIVE
  STEP_PID_MAX,      // VALUE
};

struct step {
  enum step_kind kind;
  char **args;
  int tree;  // of a bind from the host: a detached clone of its source; see steps_take_sources
};

struct steps {
  struct step *list;
  size_t count;
};

struct limit {
  int resource;
  uint64_t soft, hard;
};

struct strings {
  char **list;  // ends with NULL
  size_t count;
};

struct plan {
  struct steps host, inside;
  const char *root, *hostname, *program, *cwd;
  uint64_t namespaces;
  uint32_t id_base, id_size;
  struct limit limits[16];
  size_t limit_count;
  bool lo, merge, no_new_privs, has_capabilities, has_uid, has_gid;
  uint64_t capabilities;
  uint8_t *seccomp;
  size_t seccomp_bytes;
  uint32_t uid, gid, groups[64];
  size_t group_count;
  int cgroup_fd, session_fd;
  const char *monotonic, *boottime;  // time namespace: seconds that the clocks are ahead, or NULL
  const char *pid_limit, *oom_score;  // as the kernel's files take them, or NULL; the first of role `pid-max` alone
  unsigned stdio;                    // bit N: descriptor N is the caller's and stays
  struct strings argv, env;
};

// Receives the plan from the control socket and reads it; a fault ends the process through fail().
struct plan *plan_receive(void);

// A field that the validation has already seen to be a number.
uint64_t plan_number(const char *text);
