// What a process loses on its way into a session: limits, filter, capabilities, new privileges, descriptors.
#pragma once
#include "plan.h"

// Limits first, then the seccomp filter, then capabilities: the filter needs CAP_SYS_ADMIN unless
// no_new_privs is set, and limits may need CAP_SYS_RESOURCE.
void confine(const struct plan *plan);

// stdin, stdout and stderr become /dev/null of the root that the process is in.
void confine_stdio(void);

// Closes every descriptor from 3 up but KEEP (which may be -1).
void confine_descriptors(int keep);
