#include "corpus.h"

#include <sys/mman.h>
#include <sys/prctl.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif
#ifndef MAP_DROPPABLE
#define MAP_DROPPABLE 0x08
#endif
#ifndef SYS_mseal
#define SYS_mseal 462
#endif
#ifndef SYS_map_shadow_stack
#define SYS_map_shadow_stack 453
#endif

#define PAGE 4096
static char *map;

static void map_pages(size_t size, int flags) {
  map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);
  must(map == MAP_FAILED ? -1 : 0);
  map[0] = 'm';
}
static const char *content_check(void) { return map[0] == 'm' ? NULL : lost("the content"); }

static void memory_shared_set_up(void) {
  map_pages(PAGE, MAP_SHARED);
  if (must(fork()) == 0)
    for (;;) {
      usleep(10000);
      map[1] = map[0];
    }
}
static const char *memory_shared_check(void) {
  map[0] = 'n';
  for (int turn = 0; turn < 100 && map[1] != 'n'; turn++) usleep(10000);
  return map[1] == 'n' ? NULL : lost("that both see one memory");
}

static void memory_locked_set_up(void) {
  map_pages(16 * PAGE, MAP_PRIVATE);
  must(mlock(map, 16 * PAGE));
}
static const char *memory_locked_check(void) {
  return file_holds("/proc/self/status", "VmLck:\t      64 kB") ? NULL : lost("the lock in memory");
}

static void memory_huge_set_up(void) {
  map_pages(8 << 20, MAP_PRIVATE);
  must(madvise(map, 8 << 20, MADV_HUGEPAGE));
  memset(map, 'm', 8 << 20);
}
#define memory_huge_check content_check

static void memory_hugetlb_set_up(void) { map_pages(2 << 20, MAP_PRIVATE | MAP_HUGETLB); }
#define memory_hugetlb_check content_check

static void memory_wiped_set_up(void) {
  map_pages(PAGE, MAP_PRIVATE);
  must(madvise(map, PAGE, MADV_WIPEONFORK));
}
static const char *memory_wiped_check(void) {
  return file_holds("/proc/self/smaps", " wf ") ? content_check() : lost("that it is wiped on fork");
}

static void memory_droppable_set_up(void) {
  map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_DROPPABLE, -1, 0);
  must(map == MAP_FAILED ? -1 : 0);
  map[0] = 'm';
}
static const char *memory_droppable_check(void) {
  return file_holds("/proc/self/smaps", " dp ") ? NULL : lost("that it may be dropped");
}

static void memory_guarded_set_up(void) {
  map_pages(3 * PAGE, MAP_PRIVATE);
  must(madvise(map + PAGE, PAGE, MADV_GUARD_INSTALL));
}
/* A guarded page gives EFAULT where a system call is to read it. */
static const char *memory_guarded_check(void) {
  int ends[2];
  must(pipe(ends));
  return write(ends[1], map + PAGE, 1) < 0 && errno == EFAULT ? content_check() : lost("the guard");
}

static void memory_sealed_set_up(void) {
  map_pages(PAGE, MAP_PRIVATE);
  must(syscall(SYS_mseal, map, PAGE, 0));
}
static const char *memory_sealed_check(void) { return munmap(map, PAGE) < 0 ? NULL : lost("the seal"); }

static void memory_named_set_up(void) {
  map_pages(PAGE, MAP_PRIVATE);
  must(prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, map, PAGE, "corpus"));
}
static const char *memory_named_check(void) {
  return file_holds("/proc/self/maps", "[anon:corpus]") ? NULL : lost("the name");
}

static void memory_growing_set_up(void) { map_pages(16 * PAGE, MAP_PRIVATE | MAP_GROWSDOWN); }
#define memory_growing_check content_check

static void memory_unreadable_set_up(void) {
  map_pages(PAGE, MAP_PRIVATE);
  must(mprotect(map, PAGE, PROT_NONE));
}
static const char *memory_unreadable_check(void) {
  must(mprotect(map, PAGE, PROT_READ));
  return content_check();
}

static void memory_keyed_set_up(void) {
  map_pages(PAGE, MAP_PRIVATE);
  int key = (int)must(pkey_alloc(0, 0));
  must(pkey_mprotect(map, PAGE, PROT_READ | PROT_WRITE, key));
}
#define memory_keyed_check content_check

static void memory_mergeable_set_up(void) {
  map_pages(PAGE, MAP_PRIVATE);
  must(madvise(map, PAGE, MADV_MERGEABLE));
}
static const char *memory_mergeable_check(void) {
  return file_holds("/proc/self/smaps", " mg") ? content_check() : lost("that it may be merged");
}

const struct corpus_case memory_cases[] = {
    CASE(memory_shared),
    CASE(memory_locked),
    CASE(memory_huge),
    CASE(memory_hugetlb),
    CASE(memory_wiped),
    CASE(memory_droppable),
    CASE(memory_guarded),
    CASE(memory_sealed),
    CASE(memory_named),
    CASE(memory_growing),
    CASE(memory_unreadable),
    CASE(memory_keyed),
    CASE(memory_mergeable),
    {0},
};
