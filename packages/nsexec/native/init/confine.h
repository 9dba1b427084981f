// What a process loses on its way into a session: limits, filter, capabilities, new privileges, descriptors.
#pragma once
#include "plan.h"

// Limits first, then the seccomp filter, then the plan's ids where it has any, then capabilities: the filter
// needs CAP_SYS_ADMIN unless no_new_privs is set, limits may need CAP_SYS_RESOURCE, ids CAP_SETUID.
void confine(const struct plan *plan);

// The same for PID 1, which is to come out of its exec with a capability that nobody else in the session has: who
// traces another must hold all that the other holds (ptrace(2)), and so nobody inside can trace it. A process that
// is not dumpable would be as safe, but CRIU could not dump it a second time.
void confine_init(const struct plan *plan);

// What PID 1 does after its exec: it takes that capability from all that it will start.
void confine_mark(void);

// stdin, stdout and stderr become /dev/null of the root that the process is in, but for those whose bit is
// set in KEPT.
void confine_stdio(unsigned kept);

// Closes every descriptor from 3 up but KEEP (which may be -1).
void confine_descriptors(int keep);
