#include "plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fail.h"

// What each argument of a verb must look like:
// p absolute path without "..", s any text, n a number. A trailing * repeats the last letter.
struct verb {
  const char *name;
  const char *shape;
  int step;  // enum step_kind, or -1 for a setting
  void (*set)(struct plan *, char **, size_t);
};

static void set_root(struct plan *p, char **a, size_t n) { (void)n; p->root = a[0]; }
static void set_hostname(struct plan *p, char **a, size_t n) { (void)n; p->hostname = a[0]; }
static void set_program(struct plan *p, char **a, size_t n) { (void)n; p->program = a[0]; }
static void set_cwd(struct plan *p, char **a, size_t n) { (void)n; p->cwd = a[0]; }
static void set_namespaces(struct plan *p, char **a, size_t n) { (void)n; p->namespaces = plan_number(a[0]); }
static void set_lo(struct plan *p, char **a, size_t n) { (void)a; (void)n; p->lo = true; }
static void set_no_new_privs(struct plan *p, char **a, size_t n) { (void)a; (void)n; p->no_new_privs = true; }
static void set_merge(struct plan *p, char **a, size_t n) { (void)a; (void)n; p->merge = true; }
static void set_cgroup(struct plan *p, char **a, size_t n) { (void)n; p->cgroup_fd = (int)plan_number(a[0]); }
static void set_session(struct plan *p, char **a, size_t n) { (void)n; p->session_fd = (int)plan_number(a[0]); }

// A number with a sign, as /proc/PID/timens_offsets takes it.
static const char *seconds(const char *text) {
  const char *digits = text + (*text == '-');
  size_t length = strspn(digits, "0123456789");
  if (length == 0 || length > 18 || digits[length]) fail_errno("plan", "time", EINVAL);
  return text;
}

static void set_time(struct plan *p, char **a, size_t n) {
  (void)n;
  p->monotonic = seconds(a[0]);
  p->boottime = seconds(a[1]);
}

static void set_pid_limit(struct plan *p, char **a, size_t n) { (void)n; p->pid_limit = a[0]; }
static void set_oom_score(struct plan *p, char **a, size_t n) { (void)n; p->oom_score = a[0]; }

static void set_stdio(struct plan *p, char **a, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (plan_number(a[i]) > 2) fail_errno("plan", "stdio", EINVAL);
    p->stdio |= 1u << plan_number(a[i]);
  }
}

static void set_id_map(struct plan *p, char **a, size_t n) {
  (void)n;
  p->id_base = (uint32_t)plan_number(a[0]);
  p->id_size = (uint32_t)plan_number(a[1]);
}

static void set_capabilities(struct plan *p, char **a, size_t n) {
  (void)n;
  p->has_capabilities = true;
  p->capabilities = plan_number(a[0]);
}

static void set_uid(struct plan *p, char **a, size_t n) { (void)n; p->has_uid = true; p->uid = (uint32_t)plan_number(a[0]); }
static void set_gid(struct plan *p, char **a, size_t n) { (void)n; p->has_gid = true; p->gid = (uint32_t)plan_number(a[0]); }

static void set_groups(struct plan *p, char **a, size_t n) {
  if (n > sizeof p->groups / sizeof *p->groups) fail_errno("plan", "groups", E2BIG);
  for (size_t i = 0; i < n; i++) p->groups[i] = (uint32_t)plan_number(a[i]);
  p->group_count = n;
}

static void set_limit(struct plan *p, char **a, size_t n) {
  (void)n;
  if (p->limit_count == sizeof p->limits / sizeof *p->limits) fail_errno("plan", "limit", E2BIG);
  p->limits[p->limit_count++] =
      (struct limit){.resource = (int)plan_number(a[0]), .soft = plan_number(a[1]), .hard = plan_number(a[2])};
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

static void set_seccomp(struct plan *p, char **a, size_t n) {
  (void)n;
  size_t digits = strlen(a[0]);
  // struct sock_filter has 8 bytes; the kernel takes at most 4096 of them.
  if (digits == 0 || digits % 16 != 0 || digits / 16 > 4096) fail_errno("plan", "seccomp", EINVAL);
  p->seccomp_bytes = digits / 2;
  p->seccomp = malloc(p->seccomp_bytes);
  if (!p->seccomp) fail("plan", "seccomp");
  for (size_t i = 0; i < p->seccomp_bytes; i++) {
    int high = hex_digit(a[0][2 * i]), low = hex_digit(a[0][2 * i + 1]);
    if (high < 0 || low < 0) fail_errno("plan", "seccomp", EINVAL);
    p->seccomp[i] = (uint8_t)(high << 4 | low);
  }
}

static void set_strings(struct strings *strings, char **args, size_t count) {
  strings->list = calloc(count + 1, sizeof *strings->list);
  if (!strings->list) fail("plan", "strings");
  memcpy(strings->list, args, count * sizeof *args);
  strings->count = count;
}

static void set_argv(struct plan *p, char **a, size_t n) { set_strings(&p->argv, a, n); }
static void set_env(struct plan *p, char **a, size_t n) { set_strings(&p->env, a, n); }

static const struct verb VERBS[] = {
    {"mount", "pssns", STEP_MOUNT, NULL},      {"bind", "ppnnn", STEP_BIND, NULL},
    {"layer", "pp", STEP_LAYER, NULL},         {"remount", "pn", STEP_REMOUNT, NULL},
    {"read-only", "p", STEP_READ_ONLY, NULL},  {"mask", "p", STEP_MASK, NULL},
    {"folder", "pnnn", STEP_FOLDER, NULL},     {"node", "pnnnnn", STEP_NODE, NULL},
    {"link", "ps", STEP_LINK, NULL},           {"file", "pnnns", STEP_FILE, NULL},
    {"propagation", "pnn", STEP_PROPAGATION, NULL}, {"pid-max", "n", STEP_PID_MAX, NULL},
    {"root", "p", -1, set_root},               {"hostname", "s", -1, set_hostname},
    {"program", "p", -1, set_program},         {"cwd", "p", -1, set_cwd},
    {"namespaces", "n", -1, set_namespaces},   {"id-map", "nn", -1, set_id_map},
    {"merge", "", -1, set_merge},
    {"lo", "", -1, set_lo},                    {"no-new-privs", "", -1, set_no_new_privs},
    {"capabilities", "n", -1, set_capabilities}, {"seccomp", "s", -1, set_seccomp},
    {"limit", "nnn", -1, set_limit},           {"uid", "n", -1, set_uid},
    {"gid", "n", -1, set_gid},                 {"groups", "n*", -1, set_groups},
    {"argv", "s*", -1, set_argv},              {"env", "s*", -1, set_env},
    {"cgroup-fd", "n", -1, set_cgroup},        {"session-fd", "n", -1, set_session},
    {"time", "ss", -1, set_time},              {"stdio", "n*", -1, set_stdio},
    {"pid-limit", "n", -1, set_pid_limit},         {"oom-score", "n", -1, set_oom_score},
};

static bool is_number(const char *text) {
  size_t length = strspn(text, "0123456789");
  if (length == 0 || length > 20 || text[length]) return false;
  errno = 0;
  (void)strtoull(text, NULL, 10);
  return errno == 0;
}

static bool is_path(const char *text) {
  if (text[0] != '/') return false;
  for (const char *at = text; (at = strstr(at, "/..")); at += 3)
    if (at[3] == '/' || at[3] == 0) return false;
  return true;
}

static bool fits(const char *text, char letter) {
  if (letter == 'n') return is_number(text);
  if (letter == 'p') return is_path(text);
  return letter == 's';
}

uint64_t plan_number(const char *text) { return strtoull(text, NULL, 10); }

static void check_shape(const struct verb *verb, char **args, size_t count) {
  const char *shape = verb->shape;
  size_t length = strlen(shape);
  bool repeats = length > 0 && shape[length - 1] == '*';
  if (repeats) length--;
  if (repeats ? count + 1 < length : count != length) fail_errno("plan", verb->name, EINVAL);
  for (size_t i = 0; i < count; i++)
    if (!fits(args[i], shape[i < length ? i : length - 1])) fail_errno("plan", verb->name, EINVAL);
}

// The next NUL-terminated field, or NULL at the end. The packet's last byte is known to be NUL.
static char *next_field(char **at, const char *end) {
  if (*at >= end) return NULL;
  char *field = *at;
  *at += strlen(field) + 1;
  return field;
}

static void add_step(struct steps *steps, enum step_kind kind, char **args) {
  struct step *grown = realloc(steps->list, (steps->count + 1) * sizeof *grown);
  if (!grown) fail("plan", "steps");
  steps->list = grown;
  grown[steps->count++] = (struct step){.kind = kind, .args = args};
}

static const struct verb *find_verb(const char *name) {
  for (size_t i = 0; i < sizeof VERBS / sizeof *VERBS; i++)
    if (strcmp(VERBS[i].name, name) == 0) return &VERBS[i];
  fail_errno("plan", name, ENOSYS);
}

static char **read_args(const char *verb, char **at, const char *end, size_t count) {
  char **args = calloc(count + 1, sizeof *args);
  if (!args) fail("plan", verb);
  for (size_t i = 0; i < count; i++)
    if (!(args[i] = next_field(at, end))) fail_errno("plan", verb, EBADMSG);
  return args;
}

static void read_records(struct plan *plan, char *at, const char *end) {
  struct steps *phase = NULL;
  for (char *name; (name = next_field(&at, end));) {
    char *count_text = next_field(&at, end);
    if (!count_text || !is_number(count_text)) fail_errno("plan", name, EBADMSG);
    size_t count = plan_number(count_text);
    if (count > (size_t)(end - at)) fail_errno("plan", name, EBADMSG);
    char **args = read_args(name, &at, end, count);
    if (strcmp(name, "host") == 0 && count == 0) phase = &plan->host;
    else if (strcmp(name, "inside") == 0 && count == 0) phase = &plan->inside;
    else {
      const struct verb *verb = find_verb(name);
      check_shape(verb, args, count);
      if (verb->step < 0) verb->set(plan, args, count);
      else if (phase) add_step(phase, (enum step_kind)verb->step, args);
      else fail_errno("plan", name, EINVAL);
    }
  }
}

struct plan *plan_receive(void) {
  char *packet = malloc(PLAN_MAX_BYTES);
  struct plan *plan = calloc(1, sizeof *plan);
  if (!packet || !plan) fail("plan", "memory");
  plan->cgroup_fd = plan->session_fd = -1;
  struct iovec part = {.iov_base = packet, .iov_len = PLAN_MAX_BYTES};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  ssize_t length = recvmsg(control_fd, &message, 0);
  if (length < 0) fail("plan", "control socket");
  if (message.msg_flags & MSG_TRUNC) fail_errno("plan", "packet", E2BIG);
  size_t magic = sizeof PLAN_MAGIC;
  if ((size_t)length < magic || memcmp(packet, PLAN_MAGIC, magic) != 0 || packet[length - 1] != 0)
    fail_errno("plan", "packet", EBADMSG);
  read_records(plan, packet + magic, packet + length);
  return plan;
}
