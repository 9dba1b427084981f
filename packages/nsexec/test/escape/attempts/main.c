// attempts HOST_PID HOST_PORT HOST_NAME HOST_WORD [NAME]
// Makes every attempt, or the one named, in a child of its own, and prints `NAME ERRNO` a line; ERRNO is `signal N`
// where the attempt was killed and `timeout` where it hung.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attempt.h"

struct bait bait;

enum { SECONDS = 5, SAID = 200 };

static void child(const struct attempt *attempt) {
  alarm(SECONDS);
  int error = attempt->run();
  _exit(error < SAID ? error : SAID);
}

static void make(const struct attempt *attempt) {
  int status;
  pid_t pid = fork();
  if (pid == 0) child(attempt);
  if (pid < 0 || waitpid(pid, &status, 0) < 0) printf("%s broken\n", attempt->name);
  else if (WIFEXITED(status)) printf("%s %d\n", attempt->name, WEXITSTATUS(status));
  else if (WTERMSIG(status) == SIGALRM) printf("%s timeout\n", attempt->name);
  else printf("%s signal %d\n", attempt->name, WTERMSIG(status));
  fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  const struct attempts *all[] = {&SETTINGS, &DEVICES, &MOUNTS, &NAMESPACES, &PROCESSES, &KERNEL, &NETWORK, &FILES};
  bait = (struct bait){atoi(argv[1]), atoi(argv[2]), argv[3], argv[4]};
  for (size_t group = 0; group < sizeof all / sizeof *all; group++)
    for (size_t i = 0; i < all[group]->count; i++) {
      const struct attempt *attempt = &all[group]->list[i];
      if (argc == 5 || strcmp(argv[5], attempt->name) == 0) make(attempt);
    }
  return 0;
}
