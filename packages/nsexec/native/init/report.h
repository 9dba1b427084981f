// What is told on the control socket beside failures: `part NAME BYTES` packets, `pid PID START`, `ready`.
#pragma once
#include <sys/types.h>

// Sends a file's content as one or more `part` packets.
void report_file(const char *name, const char *path);

// Sends `part NAME TEXT`.
void report_text(const char *name, const char *text);

// Sends the device and inode of every namespace of this process, a line each: `NAME DEVICE INODE`.
void report_namespaces(void);

// Sends `pid PID START`: a child of ours that is not reaped yet, so that its number cannot be another's.
void report_child(pid_t pid);
