#include "corpus.h"

#include <mqueue.h>
#include <poll.h>

static int fd, ends[2];

static void pipe_filled_set_up(void) {
  static char block[65536];
  must(pipe2(ends, O_NONBLOCK));
  must(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20));
  memset(block, 'x', sizeof block);
  for (int turn = 0; turn < 12; turn++) must(write(ends[1], block, sizeof block));
}
static const char *pipe_filled_check(void) {
  static char block[65536];
  size_t total = 0;
  for (ssize_t length; (length = read(ends[0], block, sizeof block)) > 0;) total += (size_t)length;
  return total == 12 * sizeof block ? NULL : lost("all but %zu bytes", total);
}

static void fifo_set_up(void) {
  must(mkfifo("/tmp/fifo", 0600));
  fd = (int)must(open("/tmp/fifo", O_RDWR));
  must(write(fd, "queued", 6));
}
static const char *fifo_check(void) { return reads(fd, "queued") ? NULL : lost("what had been queued"); }

static void pipe_packet_set_up(void) {
  must(pipe2(ends, O_DIRECT));
  must(write(ends[1], "one", 3));
  must(write(ends[1], "two", 3));
}
static const char *pipe_packet_check(void) { return reads(ends[0], "one") ? NULL : lost("the borders of packets"); }

static void mqueue_open_set_up(void) {
  fd = (int)must(mq_open("/queue", O_RDWR | O_CREAT, 0600, NULL));
  must(mq_send(fd, "queued", 6, 1));
}
#define mqueue_open_check lives_on

static void mqueue_closed_set_up(void) {
  mqueue_open_set_up();
  mq_close(fd);
}
static const char *mqueue_closed_check(void) {
  char found[8192];
  mqd_t queue = mq_open("/queue", O_RDWR | O_NONBLOCK);
  if (queue < 0) return lost("the queue");
  return mq_receive(queue, found, sizeof found, NULL) == 6 ? NULL : lost("the message");
}

const struct corpus_case queue_cases[] = {
    CASE(pipe_filled), CASE(fifo), CASE(pipe_packet), CASE(mqueue_open), CASE(mqueue_closed), {0},
};
