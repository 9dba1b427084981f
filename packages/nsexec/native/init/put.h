// Puts a file in place as a whole.
#pragma once
#include <stdbool.h>
#include <sys/types.h>

// Whoever reads PATH meets the old text or the new one, never half of it. False with errno; PATH is then as it was.
bool put_file(const char *path, mode_t mode, const char *text);

// Writes TEXT over the beginning of PATH by one write that never shortens it: who has it open or mapped sees the change.
bool overwrite_file(const char *path, const char *text);
