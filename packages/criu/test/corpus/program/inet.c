#include "corpus.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_alg.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

static int listening, client, accepted, fd;

static const struct sockaddr_in server = {
    .sin_family = AF_INET, .sin_port = 0x5c11 /* 4444 in network order */, .sin_addr.s_addr = 0x0100007f};
#define ADDRESS(OF) ((const struct sockaddr *)(OF))

static void serve(int protocol, int backlog) {
  int yes = 1;
  listening = (int)must(socket(AF_INET, SOCK_STREAM, protocol));
  must(setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes));
  must(bind(listening, ADDRESS(&server), sizeof server));
  must(listen(listening, backlog));
}
static int call(int protocol) {
  int calling = (int)must(socket(AF_INET, SOCK_STREAM, protocol));
  must(connect(calling, ADDRESS(&server), sizeof server));
  return calling;
}
static const char *answers(int protocol) {
  int again = call(protocol);
  int another = (int)must(accept(listening, NULL, NULL));
  must(write(again, "new", 3));
  return reads(another, "new") ? NULL : lost("the listening socket");
}

static void tcp_listening_set_up(void) { serve(0, 8); }
static const char *tcp_listening_check(void) { return answers(0); }

static void tcp6_listening_set_up(void) {
  struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = server.sin_port, .sin6_addr = in6addr_any};
  listening = (int)must(socket(AF_INET6, SOCK_STREAM, 0));
  must(bind(listening, ADDRESS(&any), sizeof any));
  must(listen(listening, 8));
}
#define tcp6_listening_check tcp_listening_check

static void mptcp_listening_set_up(void) { serve(IPPROTO_MPTCP, 8); }
static const char *mptcp_listening_check(void) { return answers(IPPROTO_MPTCP); }

static void tcp_established_set_up(void) {
  serve(0, 8);
  client = call(0);
  accepted = (int)must(accept(listening, NULL, NULL));
  must(write(client, "queued", 6));
}
static const char *tcp_established_check(void) {
  if (!reads(accepted, "queued")) return lost("the data that had been queued");
  if (write(accepted, "back", 4) != 4 || !reads(client, "back")) return lost("the connection");
  return answers(0);
}

static void tcp_unaccepted_set_up(void) {
  serve(0, 8);
  client = call(0);
}
static const char *tcp_unaccepted_check(void) {
  fcntl(listening, F_SETFL, O_NONBLOCK);
  accepted = accept(listening, NULL, NULL);
  return accepted >= 0 ? NULL : lost("the connection that had not been accepted");
}

/* The client has ended, and what it called for is still to be accepted. */
static void tcp_unaccepted_orphan_set_up(void) {
  tcp_unaccepted_set_up();
  must(write(client, "last words", 10));
  close(client);
}
static const char *tcp_unaccepted_orphan_check(void) {
  const char *missing = tcp_unaccepted_check();
  return missing ? missing : reads(accepted, "last words") ? NULL : lost("the data that had been queued");
}

static void tcp_close_wait_set_up(void) {
  tcp_established_set_up();
  must(shutdown(client, SHUT_WR));
  usleep(20000);
}
static const char *tcp_close_wait_check(void) {
  char end;
  if (!reads(accepted, "queued") || read(accepted, &end, 1) != 0) return lost("data, or that one direction is shut");
  return write(accepted, "back", 4) == 4 && reads(client, "back") ? NULL : lost("the other direction");
}

/* The one end is closed by its process; the kernel alone still knows of the connection. */
static void tcp_time_wait_set_up(void) {
  tcp_established_set_up();
  close(client);
  char found[16];
  must(read(accepted, found, sizeof found));
  close(accepted);
  usleep(20000);
}
static const char *tcp_time_wait_check(void) { return answers(0); }

/* A server whose filter drops all that comes leaves its caller without an answer. */
static void tcp_syn_sent_set_up(void) {
  struct sock_filter drop[] = {{.code = BPF_RET | BPF_K, .k = 0}};
  struct sock_fprog filter = {.len = 1, .filter = drop};
  serve(0, 8);
  must(setsockopt(listening, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter));
  client = (int)must(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
  connect(client, ADDRESS(&server), sizeof server);
}
#define tcp_syn_sent_check lives_on

static void tcp_bound_set_up(void) {
  fd = (int)must(socket(AF_INET, SOCK_STREAM, 0));
  must(bind(fd, ADDRESS(&server), sizeof server));
}
static const char *tcp_bound_check(void) {
  struct sockaddr_in found = {0};
  socklen_t size = sizeof found;
  must(getsockname(fd, (struct sockaddr *)&found, &size));
  return found.sin_port == server.sin_port ? NULL : lost("the address");
}

static void tcp_fresh_set_up(void) { fd = (int)must(socket(AF_INET, SOCK_STREAM, 0)); }
static const char *tcp_fresh_check(void) {
  return bind(fd, ADDRESS(&server), sizeof server) == 0 ? NULL : lost("the socket");
}

static void udp_bound_set_up(void) {
  fd = (int)must(socket(AF_INET, SOCK_DGRAM, 0));
  must(bind(fd, ADDRESS(&server), sizeof server));
}
static const char *udp_bound_check(void) {
  client = (int)must(socket(AF_INET, SOCK_DGRAM, 0));
  must(sendto(client, "late", 4, 0, ADDRESS(&server), sizeof server));
  return reads(fd, "late") ? NULL : lost("the address");
}

static void udp_connected_set_up(void) {
  udp_bound_set_up();
  client = (int)must(socket(AF_INET, SOCK_DGRAM, 0));
  must(connect(client, ADDRESS(&server), sizeof server));
}
static const char *udp_connected_check(void) {
  return write(client, "late", 4) == 4 && reads(fd, "late") ? NULL : lost("the peer");
}

static void udp_queued_set_up(void) {
  udp_connected_set_up();
  must(write(client, "queued", 6));
}
static const char *udp_queued_check(void) { return reads(fd, "queued") ? NULL : lost("the datagram"); }

static void open_socket(int domain, int type, int protocol) { fd = (int)must(socket(domain, type, protocol)); }
static const char *socket_check(void) {
  int type;
  socklen_t size = sizeof type;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 ? NULL : lost("the socket");
}
static void raw_icmp_set_up(void) { open_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP); }
#define raw_icmp_check socket_check
/* ping_group_range says who may have such a socket. */
static void ping_set_up(void) {
  int range = open("/proc/sys/net/ipv4/ping_group_range", O_WRONLY);
  if (range >= 0) must(write(range, "0 0", 3));
  open_socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
}
#define ping_check socket_check
static void packet_set_up(void) { open_socket(AF_PACKET, SOCK_RAW, 0x0300); }
#define packet_check socket_check
static void udplite_set_up(void) { open_socket(AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE); }
#define udplite_check socket_check
static void vsock_set_up(void) { open_socket(AF_VSOCK, SOCK_STREAM, 0); }
#define vsock_check socket_check
static void xdp_set_up(void) { open_socket(AF_XDP, SOCK_RAW, 0); }
#define xdp_check socket_check
static void key_set_up(void) { open_socket(AF_KEY, SOCK_RAW, 2); }
#define key_check socket_check

static void algorithm_set_up(void) {
  struct sockaddr_alg hash = {.salg_family = AF_ALG, .salg_type = "hash", .salg_name = "sha256"};
  open_socket(AF_ALG, SOCK_SEQPACKET, 0);
  must(bind(fd, ADDRESS(&hash), sizeof hash));
}
#define algorithm_check socket_check

static void netlink_set_up(int protocol, unsigned groups) {
  struct sockaddr_nl own = {.nl_family = AF_NETLINK, .nl_groups = groups};
  open_socket(AF_NETLINK, SOCK_RAW, protocol);
  must(bind(fd, ADDRESS(&own), sizeof own));
}
static const char *netlink_check(void) {
  struct {
    struct nlmsghdr header;
    struct rtgenmsg body;
  } request = {{.nlmsg_len = sizeof request, .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
               {.rtgen_family = AF_UNSPEC}};
  char answer[8192];
  return write(fd, &request, sizeof request) > 0 && read(fd, answer, sizeof answer) > 0 ? NULL : lost("the socket");
}
static void netlink_route_set_up(void) { netlink_set_up(NETLINK_ROUTE, RTMGRP_LINK); }
#define netlink_route_check netlink_check
static void netlink_uevent_set_up(void) { netlink_set_up(NETLINK_KOBJECT_UEVENT, 0); }
#define netlink_uevent_check socket_check

static void netlink_queued_set_up(void) {
  struct {
    struct nlmsghdr header;
    struct rtgenmsg body;
  } request = {{.nlmsg_len = sizeof request, .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
               {.rtgen_family = AF_UNSPEC}};
  netlink_set_up(NETLINK_ROUTE, 0);
  must(write(fd, &request, sizeof request));
}
static const char *netlink_queued_check(void) {
  char answer[8192];
  return recv(fd, answer, sizeof answer, MSG_DONTWAIT) > 0 ? NULL : lost("the answer that had been queued");
}

const struct corpus_case inet_cases[] = {
    CASE(tcp_listening),
    CASE(tcp6_listening),
    CASE(mptcp_listening),
    CASE(tcp_established),
    CASE(tcp_unaccepted),
    CASE(tcp_unaccepted_orphan),
    CASE(tcp_close_wait),
    CASE(tcp_time_wait),
    CASE(tcp_syn_sent),
    CASE(tcp_bound),
    CASE(tcp_fresh),
    CASE(udp_bound),
    CASE(udp_connected),
    CASE(udp_queued),
    CASE(raw_icmp),
    CASE(ping),
    CASE(packet),
    CASE(udplite),
    CASE(vsock),
    CASE(xdp),
    CASE(key),
    CASE(algorithm),
    CASE(netlink_route),
    CASE(netlink_uevent),
    CASE(netlink_queued),
    {0},
};
