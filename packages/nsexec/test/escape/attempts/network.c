// The host's sockets, and the session's own network beyond what was given.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "attempt.h"

static int opened(int family, int type, int protocol) { return refusal(socket(family, type, protocol)); }
static int packets(void) { return opened(AF_PACKET, SOCK_RAW, htons(3)); }
static int raw(void) { return opened(AF_INET, SOCK_RAW, IPPROTO_ICMP); }
static int vsock(void) { return opened(40, SOCK_STREAM, 0); }
static int crypto(void) { return opened(38, SOCK_SEQPACKET, 0); }
static int xdp(void) { return opened(44, SOCK_RAW, 0); }

static int lo_down(void) {
  struct ifreq request = {.ifr_name = "lo", .ifr_flags = 0};
  return refusal(ioctl(socket(AF_INET, SOCK_DGRAM, 0), SIOCSIFFLAGS, &request));
}

// The kernel's answer to one netlink request.
static int asked(int protocol, const void *request, size_t length) {
  struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  char answer[4096];
  int fd = socket(AF_NETLINK, SOCK_RAW, protocol);
  if (fd < 0) return errno;
  if (sendto(fd, request, length, 0, (struct sockaddr *)&kernel, sizeof kernel) < 0) return errno;
  if (recv(fd, answer, sizeof answer, 0) < 0) return errno;
  struct nlmsghdr *header = (struct nlmsghdr *)(void *)answer;
  struct nlmsgerr *error = NLMSG_DATA(header);
  return header->nlmsg_type == NLMSG_ERROR ? -error->error : 0;
}

static int new_interface(void) {
  struct {
    struct nlmsghdr header;
    struct ifinfomsg info;
    struct rtattr link, kind;
    char name[8];
  } request = {
      .header = {sizeof request, RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, 1, 0},
      .link = {sizeof(struct rtattr) * 2 + 8, IFLA_LINKINFO},
      .kind = {sizeof(struct rtattr) + 6, 1 /* IFLA_INFO_KIND */},
      .name = "dummy",
  };
  return asked(NETLINK_ROUTE, &request, sizeof request);
}

// The batch that opens every change of nftables, whose faults have been a way out from user namespaces.
static int packet_filter(void) {
  struct {
    struct nlmsghdr header;
    unsigned char family, version;
    unsigned short subsystem;
  } request = {.header = {sizeof request, 16 /* NFNL_MSG_BATCH_BEGIN */, NLM_F_REQUEST | NLM_F_ACK, 1, 0},
               .subsystem = 0x0a00 /* nftables, big-endian */};
  return asked(NETLINK_NETFILTER, &request, sizeof request);
}

static int audit_log(void) {
  struct nlmsghdr request = {sizeof request, 1000 /* AUDIT_GET */, NLM_F_REQUEST | NLM_F_ACK, 1, 0};
  return asked(NETLINK_AUDIT, &request, sizeof request);
}

static int host_abstract(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(bait.host_name);
  memcpy(address.sun_path + 1, bait.host_name, length);
  return refusal(connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address,
                         (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)));
}

static int host_tcp(void) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((unsigned short)bait.host_port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  return refusal(connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address));
}

static const struct attempt LIST[] = {
    {"packet-socket", packets}, {"raw-socket", raw},         {"vsock", vsock},
    {"af-alg", crypto},         {"af-xdp", xdp},             {"loopback-down", lo_down},
    {"new-interface", new_interface}, {"nftables", packet_filter}, {"audit", audit_log},
    {"host-abstract-socket", host_abstract}, {"host-tcp", host_tcp},
};
const struct attempts NETWORK = {LIST, sizeof LIST / sizeof *LIST};
