/*
 * Programs of tests, for small roots and images in perl's builtins alone: every image has perl-base, and none has Python or netcat for certain.
 * Numbers are Linux's own: AF_INET 2, SOCK_STREAM 1, SOL_SOCKET 1, SO_REUSEADDR 2.
 */

/** `perl -e GREETER ADDRESS GREETING [PORT]` says its port, and GREETING to whoever connects. */
export const GREETER = `
  my ($address, $greeting, $port) = @ARGV;
  $| = 1;
  socket(my $server, 2, 1, 0) or die "socket: $!";
  setsockopt($server, 1, 2, pack("l", 1));
  bind($server, pack("S n C4 x8", 2, $port // 0, split(/[.]/, $address))) or die "bind $address: $!";
  listen($server, 128) or die "listen: $!";
  my (undef, $bound) = unpack("S n", getsockname($server));
  print "$bound\\n";
  while (accept(my $client, $server)) { syswrite($client, "$greeting\\n"); close($client); }
`;

/** `perl -e ECHO_SERVER PORT`: answers `got LINE` to each line of each connection; a line to stdout when one ends. */
export const ECHO_SERVER = `
  my ($port) = @ARGV;
  $| = 1;
  socket(my $server, 2, 1, 0) or die "socket: $!";
  setsockopt($server, 1, 2, pack("l", 1));
  bind($server, pack("S n C4 x8", 2, $port, 0, 0, 0, 0)) or die "bind: $!";
  listen($server, 8) or die "listen: $!";
  print "listening\\n";
  while (accept(my $client, $server)) {
    next if fork;
    while (sysread($client, my $line, 100)) { syswrite($client, "got $line") }
    print "ended\\n";
    exit;
  }
`;

/** `perl -e CLIENT ADDRESS PORT` prints what is said there, or why nothing is. It gives up after half a minute. */
export const CLIENT = `
  my ($address, $port) = @ARGV;
  $SIG{ALRM} = sub { print "no answer\\n"; exit 1 };
  alarm 30;
  socket(my $s, 2, 1, 0) or die "socket: $!";
  unless (connect($s, pack("S n C4 x8", 2, $port, split(/[.]/, $address)))) { print "$!\\n"; exit 1 }
  syswrite($s, "hello\\n");
  sysread($s, my $said, 100);
  print length($said // "") ? $said : "closed\\n";
`;

/**
 * `perl -e FLOOD ADDRESS PORT COUNT`: three processes make COUNT connections each, and hold them until the last of them is
 * done; each says how many it made.
 */
export const FLOOD = `
  my ($address, $port, $count) = @ARGV;
  $| = 1;
  pipe(my $done, my $tell);
  pipe(my $over, my $end);
  my @children = map {
    my $child = fork;
    if ($child == 0) {
      close($end);
      my (@held, $made);
      for (1 .. $count) {
        socket(my $s, 2, 1, 0) or last;
        last unless connect($s, pack("S n C4 x8", 2, $port, split(/[.]/, $address)));
        push @held, $s;
        $made++;
      }
      print "$made\\n";
      syswrite($tell, ".");
      sysread($over, my $nothing, 1);
      exit;
    }
    $child;
  } 1 .. 3;
  sysread($done, my $one, 1) for @children;
  close($end);
  waitpid($_, 0) for @children;
`;

/** `perl -e HOLDER PORT ASK REPLY`: holds a connection to 127.0.0.1, and asks over it whenever ASK appears. */
export const HOLDER = `
  my ($port, $ask, $reply) = @ARGV;
  socket(my $s, 2, 1, 0) or die "socket: $!";
  connect($s, pack("S n C4 x8", 2, $port, 127, 0, 0, 1)) or die "connect: $!";
  open(my $ready, ">", "$reply.ready");
  close($ready);
  for (;;) {
    if (-e $ask) {
      syswrite($s, "ping\\n");
      sysread($s, my $said, 100);
      open(my $file, ">", $reply);
      print $file $said;
      exit;
    }
    select(undef, undef, undef, 0.02);
  }
`;

/** `perl -e WATCHER FILE OUT`: reads a file again and again through one descriptor, and notes what changed. */
export const WATCHER = `
  my ($path, $out) = @ARGV;
  open(my $file, "<", $path) or die "$path: $!";
  my $last = "";
  for (;;) {
    seek($file, 0, 0);
    my $now = <$file>;
    if ($now ne $last) { open(my $notes, ">>", $out); print $notes $now; close($notes) }
    $last = $now;
    select(undef, undef, undef, 0.02);
  }
`;

/** `perl -e DICE ASK OUT`: a generator seeded once; a number of it to OUT for each line that comes through the FIFO ASK. */
export const DICE = `
  my ($ask, $out) = @ARGV;
  srand;
  rand;
  open(my $lines, "+<", $ask) or die "$ask: $!";
  while (<$lines>) {
    open(my $file, ">>", $out);
    printf $file "%.12f\\n", rand;
  }
`;
