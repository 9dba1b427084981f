/*
 * One program with a case for each kernel object and state that a dump may meet. `corpus CASE` sets its object up,
 * says so in /corpus/ready, waits for SIGUSR1, checks that the object is as it was, and says that in /corpus/result.
 */
#ifndef CORPUS_H
#define CORPUS_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

struct corpus_case {
  const char *name;
  /* Makes the object; ends in must() where this kernel has no such thing. */
  void (*set_up)(void);
  /* NULL where the object is as it was, else what is lost, as a sentence. */
  const char *(*check)(void);
};

#define CASE(NAME) {#NAME, NAME##_set_up, NAME##_check}

/* Tables, each with an entry without a name at its end. */
extern const struct corpus_case anonymous_cases[], device_cases[], file_cases[], inet_cases[], ipc_cases[],
    lock_cases[], memory_cases[], mount_cases[], namespace_cases[], queue_cases[], task_cases[], terminal_cases[],
    unix_cases[], watch_cases[];

/* The value where it is not negative; else the case is unavailable here, with errno for a reason. */
long must_say(long value, const char *call);
#define must(CALL) must_say((long)(CALL), #CALL)

/* What is lost, as printf says it; valid until the next call. */
const char *lost(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A file with this text; a descriptor on it, read and write. */
int file_with(const char *path, const char *text);
/* Whether a read from here gives just this text, without waiting. */
int reads(int fd, const char *text);
/* Whether a file's text holds this. */
int file_holds(const char *path, const char *text);
/* A child that runs this and then waits for ever. Returns when it has run it. */
pid_t child_that(void (*act)(void));
/* A child that only waits. */
pid_t idle_child(void);
/* For a check that has nothing to ask for: that the process lives on is all there is. */
const char *lives_on(void);

#endif
