#include "corpus.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>

static int pair[2], listening, client, accepted;

static socklen_t address_of(struct sockaddr_un *address, const char *path) {
  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  size_t length = strlen(path);
  memcpy(address->sun_path, path, length + 1);
  if (path[0] == '@') address->sun_path[0] = 0;
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (path[0] == '@' ? 0 : 1));
}
static int bound(int type, const char *path) {
  struct sockaddr_un address;
  socklen_t length = address_of(&address, path);
  int fd = (int)must(socket(AF_UNIX, type, 0));
  must(bind(fd, (struct sockaddr *)&address, length));
  return fd;
}
static int connected(int type, const char *path) {
  struct sockaddr_un address;
  socklen_t length = address_of(&address, path);
  int fd = (int)must(socket(AF_UNIX, type, 0));
  must(connect(fd, (struct sockaddr *)&address, length));
  return fd;
}
static void serve(const char *path) {
  listening = bound(SOCK_STREAM, path);
  must(listen(listening, 8));
}
static void converse(const char *path) {
  serve(path);
  client = connected(SOCK_STREAM, path);
  accepted = (int)must(accept(listening, NULL, NULL));
  must(write(client, "queued", 6));
}
static const char *conversation_check(const char *path) {
  if (!reads(accepted, "queued")) return lost("the data that had been queued");
  must(write(accepted, "back", 4));
  if (!reads(client, "back")) return lost("the connection");
  int again = connected(SOCK_STREAM, path);
  int another = (int)must(accept(listening, NULL, NULL));
  must(write(again, "new", 3));
  return reads(another, "new") ? NULL : lost("the listening socket");
}

static void unix_path_set_up(void) { converse("/home/socket"); }
static const char *unix_path_check(void) { return conversation_check("/home/socket"); }
static void unix_path_tmpfs_set_up(void) { converse("/tmp/socket"); }
static const char *unix_path_tmpfs_check(void) { return conversation_check("/tmp/socket"); }
static void unix_abstract_set_up(void) { converse("@corpus"); }
static const char *unix_abstract_check(void) { return conversation_check("@corpus"); }

static void unix_path_deleted_set_up(void) {
  converse("/tmp/socket");
  must(unlink("/tmp/socket"));
}
static const char *unix_path_deleted_check(void) {
  return reads(accepted, "queued") ? NULL : lost("the data that had been queued");
}

static void unix_unaccepted_set_up(void) {
  serve("/tmp/socket");
  client = connected(SOCK_STREAM, "/tmp/socket");
}
static const char *unix_unaccepted_check(void) {
  fcntl(listening, F_SETFL, O_NONBLOCK);
  accepted = accept(listening, NULL, NULL);
  if (accepted < 0) return lost("the connection that had not been accepted");
  return write(client, "late", 4) == 4 && reads(accepted, "late") ? NULL : lost("the connection's other end");
}

static void unix_unaccepted_data_set_up(void) {
  unix_unaccepted_set_up();
  must(write(client, "early", 5));
}
static const char *unix_unaccepted_data_check(void) {
  fcntl(listening, F_SETFL, O_NONBLOCK);
  accepted = accept(listening, NULL, NULL);
  return accepted >= 0 && reads(accepted, "early") ? NULL : lost("the connection that had not been accepted");
}

static void pair_of(int type) { must(socketpair(AF_UNIX, type, 0, pair)); }
static const char *pair_check(void) { return reads(pair[1], "queued") ? NULL : lost("what had been queued"); }

static void unix_pair_set_up(void) {
  pair_of(SOCK_STREAM);
  must(write(pair[0], "queued", 6));
}
#define unix_pair_check pair_check
static void unix_pair_seqpacket_set_up(void) {
  pair_of(SOCK_SEQPACKET);
  must(write(pair[0], "queued", 6));
  must(write(pair[0], "second", 6));
}
#define unix_pair_seqpacket_check pair_check
static void unix_pair_datagram_set_up(void) {
  pair_of(SOCK_DGRAM);
  must(write(pair[0], "queued", 6));
}
#define unix_pair_datagram_check pair_check

static void unix_datagram_path_set_up(void) {
  pair[1] = bound(SOCK_DGRAM, "/tmp/socket");
  pair[0] = connected(SOCK_DGRAM, "/tmp/socket");
  must(write(pair[0], "queued", 6));
}
#define unix_datagram_path_check pair_check

/* The sender is gone; what it sent waits. */
static void unix_sender_gone_set_up(void) {
  unix_pair_set_up();
  close(pair[0]);
}
#define unix_sender_gone_check pair_check

static void unix_datagram_sender_gone_set_up(void) {
  unix_datagram_path_set_up();
  close(pair[0]);
}
#define unix_datagram_sender_gone_check pair_check

static void unix_half_shut_set_up(void) {
  unix_pair_set_up();
  must(shutdown(pair[0], SHUT_WR));
}
static const char *unix_half_shut_check(void) {
  char end;
  if (!reads(pair[1], "queued")) return lost("what had been queued");
  if (read(pair[1], &end, 1) != 0) return lost("that one direction is shut");
  return write(pair[1], "back", 4) == 4 && reads(pair[0], "back") ? NULL : lost("the other direction");
}

static void unix_urgent_set_up(void) {
  pair_of(SOCK_STREAM);
  must(send(pair[0], "u", 1, MSG_OOB));
}
static const char *unix_urgent_check(void) {
  char found = 0;
  return recv(pair[1], &found, 1, MSG_OOB | MSG_DONTWAIT) == 1 && found == 'u' ? NULL : lost("the urgent byte");
}

static void send_descriptor(int over, int sent) {
  char room[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec data = {.iov_base = "m", .iov_len = 1};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  *header = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
  memcpy(CMSG_DATA(header), &sent, sizeof sent);
  must(sendmsg(over, &message, 0));
  close(sent);
}
static int received_descriptor(int over) {
  char room[CMSG_SPACE(sizeof(int))] = {0}, byte;
  struct iovec data = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  int found = -1;
  if (recvmsg(over, &message, MSG_DONTWAIT) != 1 || !CMSG_FIRSTHDR(&message)) return -1;
  memcpy(&found, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof found);
  return found;
}
static void unix_rights_pipe_set_up(void) {
  int ends[2];
  pair_of(SOCK_STREAM);
  must(pipe(ends));
  must(write(ends[1], "inside", 6));
  send_descriptor(pair[0], ends[0]);
}
static const char *unix_rights_pipe_check(void) {
  int found = received_descriptor(pair[1]);
  return found >= 0 && reads(found, "inside") ? NULL : lost("the descriptor in flight");
}

static void unix_rights_socket_set_up(void) {
  int inner[2];
  pair_of(SOCK_STREAM);
  must(socketpair(AF_UNIX, SOCK_STREAM, 0, inner));
  must(write(inner[1], "inside", 6));
  send_descriptor(pair[0], inner[0]);
}
#define unix_rights_socket_check unix_rights_pipe_check

static void unix_credentials_set_up(void) { pair_of(SOCK_STREAM); }
static const char *unix_credentials_check(void) {
  struct ucred found = {0};
  socklen_t size = sizeof found;
  must(getsockopt(pair[0], SOL_SOCKET, SO_PEERCRED, &found, &size));
  return found.pid == getpid() && found.uid == getuid() ? NULL : lost("the peer's identity: pid %d", found.pid);
}

/* An unbound datagram socket that has no peer. */
static void unix_alone_set_up(void) { client = (int)must(socket(AF_UNIX, SOCK_DGRAM, 0)); }
static const char *unix_alone_check(void) {
  pair[1] = bound(SOCK_DGRAM, "/tmp/socket");
  struct sockaddr_un address;
  socklen_t length = address_of(&address, "/tmp/socket");
  must(sendto(client, "queued", 6, 0, (struct sockaddr *)&address, length));
  return pair_check();
}

/* Takes whoever connects. */
static void *take(void *unused) {
  accepted = accept(listening, NULL, NULL);
  close(file_with("/home/accepted", "x"));
  return unused;
}
static void unix_served_set_up(void) {
  pthread_t taker;
  serve("/home/socket");
  must(-pthread_create(&taker, NULL, take, NULL));
}
#define unix_served_check lives_on

const struct corpus_case unix_cases[] = {
    CASE(unix_path),
    CASE(unix_path_tmpfs),
    CASE(unix_abstract),
    CASE(unix_path_deleted),
    CASE(unix_unaccepted),
    CASE(unix_unaccepted_data),
    CASE(unix_pair),
    CASE(unix_pair_seqpacket),
    CASE(unix_pair_datagram),
    CASE(unix_datagram_path),
    CASE(unix_sender_gone),
    CASE(unix_datagram_sender_gone),
    CASE(unix_half_shut),
    CASE(unix_urgent),
    CASE(unix_rights_pipe),
    CASE(unix_rights_socket),
    CASE(unix_credentials),
    CASE(unix_alone),
    CASE(unix_served),
    {0},
};
