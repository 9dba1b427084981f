// How every role tells its caller what it did and where it failed: packets on one control socket.
#pragma once

// The descriptor on which the caller listens (SOCK_SEQPACKET), or -1 once it is closed.
extern int control_fd;

// Exit status of a role that failed after it had said why.
enum { EXIT_SAID = 125 };

// Sends `fail STEP PATH ERRNO` (NUL-separated) with the current errno and ends the process.
_Noreturn void fail(const char *step, const char *path);

// The same with an errno of the caller's choice.
_Noreturn void fail_errno(const char *step, const char *path, int error);

// Sends one packet; the caller's being gone ends the process, because nobody would end it later.
void control_send(const void *packet, unsigned long length);
