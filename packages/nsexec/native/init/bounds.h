// What a session is held to as a whole, beside its processes' own limits.
#pragma once

// Sets the greatest pid of the pid namespace that the caller is in, through the /proc of a root.
void bound_pids(int root, const char *limit);

// Makes the kernel's OOM killer prefer the caller, and what descends from it, to others.
void bound_memory(const char *score);
