#include "corpus.h"

#include <linux/fuse.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

static int fd;
static struct stat before;

/* /mnt is an empty folder of every session. */
static void mount_kind(const char *kind, unsigned long flags, const char *options) {
  must(mount(kind, "/mnt", kind, flags, options));
  must(stat("/mnt", &before));
}
static int mounted(const char *kind) {
  char wanted[64];
  snprintf(wanted, sizeof wanted, " - %s ", kind);
  return file_holds("/proc/self/mountinfo", wanted);
}
#define KIND(NAME, TYPE)                                                  \
  static void NAME##_set_up(void) { mount_kind(TYPE, 0, NULL); }          \
  static const char *NAME##_check(void) { return mounted(TYPE) ? NULL : lost("the mount"); }

KIND(mount_binfmt_misc, "binfmt_misc")
KIND(mount_bpf, "bpf")
KIND(mount_cgroup2, "cgroup2")
KIND(mount_configfs, "configfs")
KIND(mount_debugfs, "debugfs")
KIND(mount_devtmpfs, "devtmpfs")
KIND(mount_efivarfs, "efivarfs")
KIND(mount_fusectl, "fusectl")
KIND(mount_hugetlbfs, "hugetlbfs")
KIND(mount_mqueue, "mqueue")
KIND(mount_pstore, "pstore")
KIND(mount_ramfs, "ramfs")
KIND(mount_securityfs, "securityfs")
KIND(mount_selinuxfs, "selinuxfs")
KIND(mount_sysfs, "sysfs")
KIND(mount_tracefs, "tracefs")

static void mount_cgroup_set_up(void) { mount_kind("cgroup", 0, "none,name=corpus"); }
static const char *mount_cgroup_check(void) { return mounted("cgroup") ? NULL : lost("the mount"); }

static void mount_tmpfs_set_up(void) {
  mount_kind("tmpfs", 0, "size=1m,mode=750");
  close(file_with("/mnt/file", "inside"));
}
static const char *mount_tmpfs_check(void) {
  struct stat found;
  must(stat("/mnt", &found));
  if ((found.st_mode & 0777) != 0750) return lost("its options");
  return file_holds("/mnt/file", "inside") ? NULL : lost("its content");
}

static void mount_proc_hidden_set_up(void) { mount_kind("proc", 0, "hidepid=2"); }
static const char *mount_proc_hidden_check(void) {
  return access("/mnt/self/status", R_OK) == 0 ? NULL : lost("the mount");
}

static void mount_devpts_set_up(void) { mount_kind("devpts", 0, "newinstance,ptmxmode=0666"); }
static const char *mount_devpts_check(void) { return access("/mnt/ptmx", F_OK) == 0 ? NULL : lost("the mount"); }

static void mount_overlay_set_up(void) {
  static const char *const folders[] = {"/tmp/lower", "/tmp/upper", "/tmp/work"};
  for (int at = 0; at < 3; at++) must(mkdir(folders[at], 0755));
  close(file_with("/tmp/lower/file", "below"));
  mount_kind("overlay", 0, "lowerdir=/tmp/lower,upperdir=/tmp/upper,workdir=/tmp/work");
}
static const char *mount_overlay_check(void) { return file_holds("/mnt/file", "below") ? NULL : lost("its content"); }

static void mount_bind_set_up(void) {
  must(mkdir("/home/source", 0755));
  must(mount("/home/source", "/mnt", NULL, MS_BIND, NULL));
}
static const char *mount_bind_check(void) {
  close(file_with("/home/source/file", "x"));
  return file_holds("/mnt/file", "x") ? NULL : lost("that both are one");
}

static void mount_bind_read_only_set_up(void) {
  must(mount("/proc", "/mnt", NULL, MS_BIND, NULL));
  must(mount(NULL, "/mnt", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL));
}
static const char *mount_bind_read_only_check(void) {
  return open("/mnt/self/oom_score_adj", O_WRONLY) < 0 && errno == EROFS ? NULL : lost("that it is read-only");
}

static void mount_bind_file_set_up(void) {
  close(file_with("/home/target", "below"));
  must(mount("/dev/null", "/home/target", NULL, MS_BIND, NULL));
}
static const char *mount_bind_file_check(void) {
  struct stat found;
  return stat("/home/target", &found) == 0 && S_ISCHR(found.st_mode) ? NULL : lost("the bind");
}

static void mount_overmounted_set_up(void) {
  mount_kind("tmpfs", 0, NULL);
  close(file_with("/mnt/below", "x"));
  must(mount("tmpfs", "/mnt", "tmpfs", 0, NULL));
  close(file_with("/mnt/above", "x"));
}
static const char *mount_overmounted_check(void) {
  if (access("/mnt/above", F_OK) < 0) return lost("the upper of the two");
  must(umount("/mnt"));
  return access("/mnt/below", F_OK) == 0 ? NULL : lost("the lower of the two");
}

static void mount_shared_set_up(void) {
  mount_kind("tmpfs", 0, NULL);
  must(mount(NULL, "/mnt", NULL, MS_SHARED, NULL));
  must(mkdir("/mnt/sub", 0755));
}
static const char *mount_shared_check(void) {
  return file_holds("/proc/self/mountinfo", " /mnt rw,relatime shared:") ? NULL : lost("that it is shared");
}

static void mount_slave_set_up(void) {
  mount_shared_set_up();
  must(mkdir("/home/slave", 0755));
  must(mount("/mnt", "/home/slave", NULL, MS_BIND, NULL));
  must(mount(NULL, "/home/slave", NULL, MS_SLAVE, NULL));
}
static const char *mount_slave_check(void) {
  return file_holds("/proc/self/mountinfo", " /home/slave rw,relatime master:") ? NULL : lost("that it is a slave");
}

static void mount_namespace_file_set_up(void) {
  close(file_with("/home/namespace", ""));
  must(mount("/proc/self/ns/uts", "/home/namespace", NULL, MS_BIND, NULL));
}
static const char *mount_namespace_file_check(void) { return mounted("nsfs") ? NULL : lost("the bind"); }

/* Hides the root's own mount; this process keeps what it has open. */
static void mount_over_root_set_up(void) { must(mount("tmpfs", "/", "tmpfs", 0, NULL)); }
#define mount_over_root_check lives_on

/* A descriptor on a mount that was detached since. */
static void mount_detached_set_up(void) {
  mount_kind("tmpfs", 0, NULL);
  fd = file_with("/mnt/file", "inside");
  must(umount2("/mnt", MNT_DETACH));
}
static const char *mount_detached_check(void) {
  char found[6];
  return pread(fd, found, 6, 0) == 6 ? NULL : lost("the file");
}

/* Bound from the host by the session's plan. */
static void mount_external_set_up(void) { must(access("/mnt/host", F_OK)); }
static const char *mount_external_check(void) {
  return access("/mnt/host", F_OK) == 0 ? NULL : lost("the host's folder");
}

/* A filesystem of a device, mounted by the session's plan. */
static void mount_ext4_set_up(void) { must(mounted("ext4") ? 0 : -1); }
static const char *mount_ext4_check(void) { return mounted("ext4") ? NULL : lost("the mount"); }

/* The least of a FUSE server: an empty root folder (fuse(4), linux/fuse.h). */
static void answer(const struct fuse_in_header *request) {
  char reply[256] = {0};
  struct fuse_out_header *head = (void *)reply;
  *head = (struct fuse_out_header){.len = sizeof *head, .unique = request->unique};
  if (request->opcode == FUSE_INIT) {
    struct fuse_init_out body = {.major = 7, .minor = 31, .max_write = 65536};
    memcpy(reply + head->len, &body, sizeof body);
    head->len += sizeof body;
  } else if (request->opcode == FUSE_GETATTR) {
    struct fuse_attr_out body = {.attr = {.ino = 1, .mode = S_IFDIR | 0755, .nlink = 2}};
    memcpy(reply + head->len, &body, sizeof body);
    head->len += sizeof body;
  } else if (request->opcode == FUSE_STATFS) {
    head->len += sizeof(struct fuse_statfs_out);
  } else {
    head->error = -ENOSYS;
  }
  if (write(fd, reply, head->len) < 0) return;
}
static void *serve(void *unused) {
  static char request[1 << 17];
  while (read(fd, request, sizeof request) > 0) answer((void *)request);
  return unused;
}
static void mount_fuse_set_up(void) {
  char options[64];
  pthread_t server;
  must(mknod("/dev/fuse", S_IFCHR | 0600, makedev(10, 229)));
  fd = (int)must(open("/dev/fuse", O_RDWR));
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
  must(mount("corpus", "/mnt", "fuse", 0, options));
  must(-pthread_create(&server, NULL, serve, NULL));
  must(stat("/mnt", &before));
}
#define mount_fuse_check lives_on

/* Its server has ended: the mount is there, and every call on it fails. */
static void mount_fuse_dead_set_up(void) {
  pid_t server = (pid_t)must(fork());
  if (server == 0) {
    mount_fuse_set_up();
    _exit(0);
  }
  must(waitpid(server, NULL, 0));
  must(mounted("fuse") ? 0 : -1);
}
#define mount_fuse_dead_check lives_on

const struct corpus_case mount_cases[] = {
    CASE(mount_binfmt_misc),
    CASE(mount_bpf),
    CASE(mount_cgroup),
    CASE(mount_cgroup2),
    CASE(mount_configfs),
    CASE(mount_debugfs),
    CASE(mount_devtmpfs),
    CASE(mount_efivarfs),
    CASE(mount_fusectl),
    CASE(mount_hugetlbfs),
    CASE(mount_mqueue),
    CASE(mount_pstore),
    CASE(mount_ramfs),
    CASE(mount_securityfs),
    CASE(mount_selinuxfs),
    CASE(mount_sysfs),
    CASE(mount_tracefs),
    CASE(mount_tmpfs),
    CASE(mount_proc_hidden),
    CASE(mount_devpts),
    CASE(mount_overlay),
    CASE(mount_bind),
    CASE(mount_bind_read_only),
    CASE(mount_bind_file),
    CASE(mount_overmounted),
    CASE(mount_shared),
    CASE(mount_slave),
    CASE(mount_namespace_file),
    CASE(mount_over_root),
    CASE(mount_detached),
    CASE(mount_external),
    CASE(mount_ext4),
    CASE(mount_fuse),
    CASE(mount_fuse_dead),
    {0},
};
