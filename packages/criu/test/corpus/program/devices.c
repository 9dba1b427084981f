#include "corpus.h"

#include <linux/if.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

static int fd;
static char *map;

static void open_node(unsigned major_number, unsigned minor_number, mode_t kind, int flags) {
  must(mknod("/dev/node", kind | 0600, makedev(major_number, minor_number)));
  fd = (int)must(open("/dev/node", flags));
}
static const char *still_open(void) { return fcntl(fd, F_GETFD) >= 0 ? NULL : lost("the descriptor"); }

static void device_null_set_up(void) { fd = (int)must(open("/dev/null", O_RDWR)); }
#define device_null_check still_open
static void device_zero_mapped_set_up(void) {
  fd = (int)must(open("/dev/zero", O_RDWR));
  map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  must(map == MAP_FAILED ? -1 : 0);
  map[0] = 'z';
}
static const char *device_zero_mapped_check(void) { return map[0] == 'z' ? NULL : lost("the mapping's content"); }
static void device_random_set_up(void) { fd = (int)must(open("/dev/urandom", O_RDONLY)); }
static const char *device_random_check(void) {
  char found[4];
  return read(fd, found, 4) == 4 ? NULL : lost("the descriptor");
}
static void device_kmsg_set_up(void) { open_node(1, 11, S_IFCHR, O_RDONLY | O_NONBLOCK); }
#define device_kmsg_check still_open
static void device_console_set_up(void) { open_node(4, 0, S_IFCHR, O_RDWR | O_NOCTTY); }
#define device_console_check still_open
static void device_fuse_set_up(void) { open_node(10, 229, S_IFCHR, O_RDWR); }
#define device_fuse_check still_open
static void device_loop_control_set_up(void) { open_node(10, 237, S_IFCHR, O_RDWR); }
#define device_loop_control_check still_open
static void device_kvm_set_up(void) { open_node(10, 232, S_IFCHR, O_RDWR); }
#define device_kvm_check still_open
static void device_block_set_up(void) { open_node(7, 0, S_IFBLK, O_RDONLY); }
#define device_block_check still_open
static void device_tun_set_up(void) {
  struct ifreq wanted = {.ifr_name = "tun0", .ifr_flags = IFF_TUN | IFF_NO_PI};
  open_node(10, 200, S_IFCHR, O_RDWR);
  must(ioctl(fd, TUNSETIFF, &wanted));
}
static const char *device_tun_check(void) {
  struct ifreq found = {0};
  return ioctl(fd, TUNGETIFF, &found) == 0 && strcmp(found.ifr_name, "tun0") == 0 ? NULL : lost("the interface");
}

const struct corpus_case device_cases[] = {
    CASE(device_null),
    CASE(device_zero_mapped),
    CASE(device_random),
    CASE(device_kmsg),
    CASE(device_console),
    CASE(device_fuse),
    CASE(device_loop_control),
    CASE(device_kvm),
    CASE(device_block),
    CASE(device_tun),
    {0},
};
