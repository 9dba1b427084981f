// The roles of this one program; each reads its plan from the control socket, and none returns.
#pragma once

// Makes a session: host mounts, namespaces, the root, then PID 1 of it: role `init`, or the plan's own program,
// whose end this process waits for and mirrors.
_Noreturn void role_launch(void);

// PID 1 of a session: reports, waits for `go`, then reaps and serves.
_Noreturn void role_init(void);

// A host program in a private mount namespace with the plan's mounts.
_Noreturn void role_exec_in_mounts(void);

// Sets a session's greatest pid anew: a restore forgets it.
_Noreturn void role_pid_max(void);

// A short-lived program inside a session, as confined as the session is.
_Noreturn void role_enter(void);
