#include "corpus.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>

static int master, slave;

static void open_pair(void) {
  int unlocked = 0, number;
  char path[32];
  master = (int)must(open("/dev/ptmx", O_RDWR | O_NOCTTY));
  must(ioctl(master, TIOCSPTLCK, &unlocked));
  must(ioctl(master, TIOCGPTN, &number));
  snprintf(path, sizeof path, "/dev/pts/%d", number);
  slave = (int)must(open(path, O_RDWR | O_NOCTTY));
}

static void pty_set_up(void) {
  struct winsize size = {.ws_row = 33, .ws_col = 99};
  open_pair();
  must(ioctl(master, TIOCSWINSZ, &size));
}
static const char *pty_check(void) {
  struct winsize size = {0};
  must(write(master, "line\n", 5));
  if (!reads(slave, "line\n")) return lost("the connection of both ends");
  must(ioctl(slave, TIOCGWINSZ, &size));
  return size.ws_row == 33 && size.ws_col == 99 ? NULL : lost("the window's size");
}

static void pty_raw_set_up(void) {
  struct termios raw;
  open_pair();
  must(tcgetattr(slave, &raw));
  cfmakeraw(&raw);
  must(tcsetattr(slave, TCSANOW, &raw));
}
static const char *pty_raw_check(void) {
  struct termios found;
  must(tcgetattr(slave, &found));
  return (found.c_lflag & (ICANON | ECHO)) == 0 ? NULL : lost("the terminal's mode");
}

static void pty_queued_set_up(void) {
  open_pair();
  must(write(master, "typed\n", 6));
}
static const char *pty_queued_check(void) { return reads(slave, "typed\n") ? NULL : lost("what had been typed"); }

static void pty_master_alone_set_up(void) {
  open_pair();
  close(slave);
}
static const char *pty_master_alone_check(void) {
  int number;
  return ioctl(master, TIOCGPTN, &number) == 0 ? NULL : lost("the terminal");
}

static void take_terminal(void) {
  setsid();
  ioctl(slave, TIOCSCTTY, 0);
  if (open("/dev/tty", O_RDWR) < 0) _exit(7);
}
/* As a terminal's window and its shell: the shell opens its end itself. */
static char slave_path[32];
static void open_terminal(void) {
  close(slave);
  setsid();
  slave = open(slave_path, O_RDWR);
  if (slave < 0) _exit(7);
}
static void pty_controlling_set_up(void) {
  int number;
  open_pair();
  must(ioctl(master, TIOCGPTN, &number));
  snprintf(slave_path, sizeof slave_path, "/dev/pts/%d", number);
  child_that(open_terminal);
  close(slave);
}
static const char *pty_controlling_check(void) {
  pid_t session = 0;
  must(ioctl(master, TIOCGSID, &session));
  return session > 1 ? NULL : lost("the controlling terminal");
}

/* The window's process kept the shell's end open. */
static void pty_slave_kept_set_up(void) {
  open_pair();
  child_that(take_terminal);
}
#define pty_slave_kept_check pty_controlling_check

/* A pager beside the shell opens /dev/tty for itself. */
static void page(void) {
  if (open("/dev/tty", O_RDWR) < 0) _exit(7);
}
static void open_terminal_and_page(void) {
  open_terminal();
  child_that(page);
}
static void pty_pager_set_up(void) {
  int number;
  open_pair();
  must(ioctl(master, TIOCGPTN, &number));
  snprintf(slave_path, sizeof slave_path, "/dev/pts/%d", number);
  child_that(open_terminal_and_page);
  close(slave);
}
#define pty_pager_check pty_controlling_check

const struct corpus_case terminal_cases[] = {
    CASE(pty), CASE(pty_raw), CASE(pty_queued), CASE(pty_master_alone), CASE(pty_controlling), CASE(pty_slave_kept), CASE(pty_pager), {0},
};
