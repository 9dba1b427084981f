#include "corpus.h"

#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

static int id;
static char *map;

static void sysv_memory_set_up(void) {
  id = (int)must(shmget(77, 65536, IPC_CREAT | 0600));
  map = shmat(id, NULL, 0);
  must(map == (void *)-1 ? -1 : 0);
  map[0] = 's';
}
static const char *sysv_memory_check(void) {
  return map[0] == 's' && shmget(77, 0, 0) == id ? NULL : lost("the segment");
}

/* Marked for removal, and still attached: as X clients leave theirs. */
static void sysv_memory_removed_set_up(void) {
  sysv_memory_set_up();
  must(shmctl(id, IPC_RMID, NULL));
}
static const char *sysv_memory_removed_check(void) { return map[0] == 's' ? NULL : lost("the segment"); }

static void sysv_semaphore_set_up(void) {
  id = (int)must(semget(77, 2, IPC_CREAT | 0600));
  must(semctl(id, 1, SETVAL, 5));
}
static const char *sysv_semaphore_check(void) { return semctl(id, 1, GETVAL) == 5 ? NULL : lost("the value"); }

static void sysv_message_set_up(void) {
  struct {
    long type;
    char text[8];
  } message = {3, "queued"};
  id = (int)must(msgget(77, IPC_CREAT | 0600));
  must(msgsnd(id, &message, sizeof message.text, 0));
}
static const char *sysv_message_check(void) {
  struct {
    long type;
    char text[8];
  } found = {0};
  return msgrcv(id, &found, sizeof found.text, 3, IPC_NOWAIT) == 8 && strcmp(found.text, "queued") == 0
             ? NULL
             : lost("the message");
}

static void posix_memory_set_up(void) {
  int fd = (int)must(open("/dev/shm/memory", O_RDWR | O_CREAT, 0600));
  must(ftruncate(fd, 1 << 20));
  map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  must(map == MAP_FAILED ? -1 : 0);
  map[0] = 'p';
}
static const char *posix_memory_check(void) { return map[0] == 'p' ? NULL : lost("the content"); }

static void posix_memory_deleted_set_up(void) {
  posix_memory_set_up();
  must(unlink("/dev/shm/memory"));
}
#define posix_memory_deleted_check posix_memory_check

const struct corpus_case ipc_cases[] = {
    CASE(sysv_memory), CASE(sysv_memory_removed), CASE(sysv_semaphore),
    CASE(sysv_message), CASE(posix_memory), CASE(posix_memory_deleted),
    {0},
};
