// What a client may ask: ping, spawn, wait, signal, list, remove, put, overwrite, pty-write, pty-resize.
#pragma once
#include <poll.h>
#include <stddef.h>

// Carries out the request of LENGTH bytes in BYTES (changed in place) that came on CONNECTION.
void request_handle(int connection, char *bytes, size_t length);

// Tells whoever waits that a child of ours has finished.
struct child;
void request_child_finished(struct child *child);

// Descriptors of spawns under way and of ptys, for poll; at most MAX. Then what poll found out.
size_t request_poll_add(struct pollfd *fds, size_t max);
void request_poll_done(const struct pollfd *fd);
