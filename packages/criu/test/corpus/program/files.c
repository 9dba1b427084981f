#include "corpus.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

static int fd, other;
static char *map;
static pid_t child;

static void nothing_set_up(void) {}
static const char *nothing_check(void) { return NULL; }

static void file_open_set_up(void) {
  fd = file_with("/home/file", "abcdef");
  must(lseek(fd, 3, SEEK_SET));
}
static const char *file_open_check(void) { return reads(fd, "def") ? NULL : lost("the offset or the content"); }

static void file_deleted_set_up(void) {
  fd = file_with("/home/file", "abc");
  must(lseek(fd, 0, SEEK_SET));
  must(unlink("/home/file"));
}
static const char *file_deleted_check(void) { return reads(fd, "abc") ? NULL : lost("the content"); }

static void file_deleted_tmpfs_set_up(void) {
  fd = file_with("/tmp/file", "abc");
  must(lseek(fd, 0, SEEK_SET));
  must(unlink("/tmp/file"));
}
#define file_deleted_tmpfs_check file_deleted_check

static void file_deleted_large_set_up(void) {
  static char block[1 << 20];
  fd = file_with("/home/file", "");
  memset(block, 'x', sizeof block);
  for (int turn = 0; turn < 5; turn++) must(write(fd, block, sizeof block));
  must(unlink("/home/file"));
}
static const char *file_deleted_large_check(void) {
  struct stat found;
  return fstat(fd, &found) == 0 && found.st_size == 5 << 20 ? NULL : lost("the size");
}

static void file_deleted_sparse_set_up(void) {
  fd = file_with("/home/file", "");
  must(ftruncate(fd, 5 << 20));
  must(unlink("/home/file"));
}
#define file_deleted_sparse_check file_deleted_large_check

static void file_deleted_lower_set_up(void) {
  fd = (int)must(open("/lower/file", O_RDONLY));
  must(unlink("/lower/file"));
}
static const char *file_deleted_lower_check(void) { return reads(fd, "lower\n") ? NULL : lost("the content"); }

static void file_deleted_link_set_up(void) {
  fd = file_with("/home/one", "abc");
  must(lseek(fd, 0, SEEK_SET));
  must(link("/home/one", "/home/two"));
  must(unlink("/home/one"));
}
#define file_deleted_link_check file_deleted_check

static void file_renamed_set_up(void) {
  fd = file_with("/home/one", "abc");
  must(lseek(fd, 0, SEEK_SET));
  must(rename("/home/one", "/home/two"));
}
#define file_renamed_check file_deleted_check

static void file_replaced_set_up(void) {
  fd = file_with("/home/one", "abc");
  must(lseek(fd, 0, SEEK_SET));
  close(file_with("/home/two", "new"));
  must(rename("/home/two", "/home/one"));
}
#define file_replaced_check file_deleted_check

static void append_to_lower(void) {
  int writer = (int)must(open("/lower/file", O_WRONLY | O_APPEND));
  must(write(writer, "more", 4));
  close(writer);
}
static void file_copied_up_set_up(void) {
  fd = (int)must(open("/lower/file", O_RDONLY));
  append_to_lower();
}
/* A descriptor of before the copy reads the lower's file; one of after the restore may read the upper's. */
static const char *file_copied_up_check(void) {
  char found[64];
  return read(fd, found, sizeof found) >= 6 && memcmp(found, "lower\n", 6) == 0 ? NULL : lost("the content");
}

static void file_copied_up_mapped_set_up(void) {
  fd = (int)must(open("/lower/file", O_RDONLY));
  map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
  must(map == MAP_FAILED ? -1 : 0);
  append_to_lower();
}
static const char *file_copied_up_mapped_check(void) {
  return memcmp(map, "lower\n", 6) == 0 ? NULL : lost("the mapping's content");
}

static void file_mapped_shared_set_up(void) {
  fd = file_with("/home/file", "");
  must(ftruncate(fd, 8192));
  map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  must(map == MAP_FAILED ? -1 : 0);
  map[0] = 'a';
}
static const char *file_mapped_shared_check(void) {
  char found[2];
  map[1] = 'b';
  return pread(fd, found, 2, 0) == 2 && memcmp(found, "ab", 2) == 0 ? NULL : lost("mapping and file are two");
}

static void file_mapped_deleted_set_up(void) {
  file_mapped_shared_set_up();
  must(unlink("/home/file"));
}
#define file_mapped_deleted_check file_mapped_shared_check

static void file_tmpfile_set_up(void) {
  fd = (int)must(open("/tmp", O_TMPFILE | O_RDWR, 0600));
  must(pwrite(fd, "abc", 3, 0));
}
#define file_tmpfile_check file_deleted_check

static void file_tmpfile_overlay_set_up(void) {
  fd = (int)must(open("/home", O_TMPFILE | O_RDWR, 0600));
  must(pwrite(fd, "abc", 3, 0));
}
#define file_tmpfile_overlay_check file_deleted_check

static void file_path_only_set_up(void) { fd = (int)must(open("/lower/file", O_PATH)); }
static const char *file_path_only_check(void) {
  struct stat found;
  return fstat(fd, &found) == 0 && found.st_size == 6 ? NULL : lost("the path descriptor");
}

static void folder_deleted_set_up(void) {
  must(mkdir("/home/folder", 0755));
  fd = (int)must(open("/home/folder", O_RDONLY | O_DIRECTORY));
  must(rmdir("/home/folder"));
}
static const char *folder_deleted_check(void) {
  struct stat found;
  return fstat(fd, &found) == 0 && S_ISDIR(found.st_mode) ? NULL : lost("the folder");
}

static void cwd_deleted_set_up(void) {
  must(mkdir("/home/folder", 0755));
  must(chdir("/home/folder"));
  must(rmdir("/home/folder"));
}
static const char *cwd_deleted_check(void) {
  char found[256] = "";
  must(readlink("/proc/self/cwd", found, sizeof found - 1));
  return strstr(found, "/home/folder") ? NULL : lost("the working directory is %s", found);
}

static void folders_of_mounts_set_up(void) {
  static const char *const paths[] = {"/", "/home", "/tmp", "/proc", "/sys", "/dev", "/dev/shm", "/run"};
  for (int at = 0; at < 8; at++) {
    int opened = (int)must(open(paths[at], O_RDONLY | O_DIRECTORY));
    if (at == 2) fd = opened;
  }
  close(file_with("/tmp/inside", "x"));
}
static const char *folders_of_mounts_check(void) {
  return faccessat(fd, "inside", F_OK, 0) == 0 ? NULL : lost("the tmpfs's folder");
}

static void namespace_file_set_up(void) { fd = (int)must(open("/proc/self/ns/mnt", O_RDONLY)); }
static const char *namespace_file_check(void) {
  struct stat found, own;
  return fstat(fd, &found) == 0 && stat("/proc/self/ns/mnt", &own) == 0 && found.st_ino == own.st_ino
             ? NULL
             : lost("the descriptor names another namespace");
}

static void proc_file_set_up(void) { fd = (int)must(open("/proc/self/status", O_RDONLY)); }
static const char *proc_file_check(void) {
  char found[64];
  return read(fd, found, sizeof found) > 0 ? NULL : lost("the file cannot be read");
}

static void proc_file_of_child_set_up(void) {
  char path[64];
  child = idle_child();
  snprintf(path, sizeof path, "/proc/%d/status", child);
  fd = (int)must(open(path, O_RDONLY));
}
#define proc_file_of_child_check proc_file_check

static void proc_file_of_dead_set_up(void) {
  proc_file_of_child_set_up();
  kill(child, SIGKILL);
  must(waitpid(child, NULL, 0));
}
#define proc_file_of_dead_check lives_on

static void sys_file_set_up(void) { fd = (int)must(open("/sys/devices/system/cpu/online", O_RDONLY)); }
#define sys_file_check proc_file_check

static void copy_of_program(const char *path) {
  char buffer[65536];
  int from = (int)must(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  int to = (int)must(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755));
  for (ssize_t length; (length = read(from, buffer, sizeof buffer)) > 0;) must(write(to, buffer, (size_t)length));
  close(from);
  close(to);
}
static void run_copy(void) {
  copy_of_program("/home/program");
  child = (pid_t)must(vfork());
  if (child == 0) {
    execl("/home/program", "program", "--idle", (char *)NULL);
    _exit(9);
  }
}
static void program_deleted_set_up(void) {
  run_copy();
  must(unlink("/home/program"));
}
static const char *program_deleted_check(void) { return kill(child, 0) == 0 ? NULL : lost("the process"); }

static void program_replaced_set_up(void) {
  run_copy();
  copy_of_program("/home/new");
  must(rename("/home/new", "/home/program"));
}
#define program_replaced_check program_deleted_check

static void chrooted_set_up(void) {
  must(mkdir("/home/root", 0755));
  must(chroot("/home/root"));
}
static const char *chrooted_check(void) {
  return access("/corpus", F_OK) < 0 ? NULL : lost("the root is the session's again");
}

static void descriptors_many_set_up(void) {
  other = (int)must(open("/dev/null", O_RDONLY));
  for (int at = 0; at < 500; at++) fd = (int)must(dup(other));
}
static const char *descriptors_many_check(void) { return fcntl(fd, F_GETFD) >= 0 ? NULL : lost("the last of them"); }

const struct corpus_case file_cases[] = {
    CASE(nothing),
    CASE(file_open),
    CASE(file_deleted),
    CASE(file_deleted_tmpfs),
    CASE(file_deleted_large),
    CASE(file_deleted_sparse),
    CASE(file_deleted_lower),
    CASE(file_deleted_link),
    CASE(file_renamed),
    CASE(file_replaced),
    CASE(file_copied_up),
    CASE(file_copied_up_mapped),
    CASE(file_mapped_shared),
    CASE(file_mapped_deleted),
    CASE(file_tmpfile),
    CASE(file_tmpfile_overlay),
    CASE(file_path_only),
    CASE(folder_deleted),
    CASE(cwd_deleted),
    CASE(folders_of_mounts),
    CASE(namespace_file),
    CASE(proc_file),
    CASE(proc_file_of_child),
    CASE(proc_file_of_dead),
    CASE(sys_file),
    CASE(program_deleted),
    CASE(program_replaced),
    CASE(chrooted),
    CASE(descriptors_many),
    {0},
};
