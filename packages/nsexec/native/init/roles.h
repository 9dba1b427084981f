// The roles of this one program; each reads its plan from the control socket, and none returns.
#pragma once

#include <stdbool.h>

// Makes a session: host mounts, namespaces, the root, then PID 1 of it: role `init`, or the plan's own program,
// whose end this process waits for and mirrors. NET_AHEAD makes the session's net namespace before the plan has come,
// which takes as long as the caller needs to make that; without a user namespace only, which would have to own it.
_Noreturn void role_launch(bool net_ahead);

// PID 1 of a session: reports, waits for `go`, then reaps and serves.
_Noreturn void role_init(void);

// A host program in a private mount namespace with the plan's mounts.
_Noreturn void role_exec_in_mounts(void);

// Sets a session's greatest pid anew: a restore forgets it.
_Noreturn void role_pid_max(void);

// A short-lived program inside a session, as confined as the session is.
_Noreturn void role_enter(void);
