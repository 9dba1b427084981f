// A process that stands for its child: it waits and ends as the child ended.
#pragma once
#include <sys/types.h>

// The status of the child becomes ours, a signal too, so that the caller sees what it would have seen.
_Noreturn void mirror(pid_t pid);
