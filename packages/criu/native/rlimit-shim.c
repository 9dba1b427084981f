/*
 * Preloaded into CRIU where it runs without CAP_SYS_RESOURCE.
 *
 * A dump reads every task's limits by prlimit64, through libc's syscall(2) wrapper. The kernel lets
 * a process read another's limits only with CAP_SYS_RESOURCE or when all ids are equal (prlimit(2)),
 * though /proc/PID/limits shows the same numbers to everybody. This object interposes the wrapper:
 * it makes the call as asked, and answers a refused *read* of limits from that file.
 * Nothing is ever set here, and every other call passes through untouched.
 *
 * Freestanding on purpose: it must load into a foreign C library of any version.
 * Build: cc -O2 -fPIC -shared -nostdlib -fno-builtin -fno-stack-protector -o rlimit-shim.so rlimit-shim.c
 */

#if !defined(__x86_64__)
#error "the shim knows the system call numbers of x86_64 alone"
#endif

enum { SYS_READ = 0, SYS_OPEN = 2, SYS_CLOSE = 3, SYS_PRLIMIT64 = 302 };
enum { OPEN_READ_CLOEXEC = 02000000, NOT_PERMITTED = -1, MAX_ERRNO = 4095 };
enum { LIMITS_SOFT_COLUMN = 26, LIMITS_HARD_COLUMN = 47, LIMITS_MIN_LINE = 68 };

struct limit {
	unsigned long soft;
	unsigned long hard;
};

extern int *__errno_location(void);

static long system_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* "unlimited" is RLIM_INFINITY, all bits set. */
static unsigned long parse_limit(const char *text, const char *end)
{
	unsigned long value = 0;

	while (text < end && *text == ' ')
		text++;
	if (text < end && *text == 'u')
		return ~0UL;
	for (; text < end && *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (unsigned long)(*text - '0');
	return value;
}

static void limits_path(long pid, char *path)
{
	const char *prefix = "/proc/", *suffix = "/limits";
	char digits[24];
	int count = 0;

	while (*prefix)
		*path++ = *prefix++;
	do {
		digits[count++] = (char)('0' + pid % 10);
		pid /= 10;
	} while (pid);
	while (count)
		*path++ = digits[--count];
	while ((*path++ = *suffix++))
		;
}

static long read_limits(long pid, char *buffer, long size)
{
	char path[48];
	long fd, total = 0, got;

	limits_path(pid, path);
	fd = system_call(SYS_OPEN, (long)path, OPEN_READ_CLOEXEC, 0, 0, 0, 0);
	if (fd < 0)
		return -1;
	while (total < size && (got = system_call(SYS_READ, fd, (long)(buffer + total), size - total, 0, 0, 0)) > 0)
		total += got;
	system_call(SYS_CLOSE, fd, 0, 0, 0, 0, 0);
	return total;
}

/* One heading line, then one line a resource in the order of the RLIMIT_ numbers (fs/proc/base.c). */
static int limit_from_proc(long pid, long resource, struct limit *out)
{
	char buffer[4096];
	long size = read_limits(pid, buffer, sizeof(buffer));
	const char *line = buffer, *end = buffer + (size > 0 ? size : 0);
	long skipped;

	for (skipped = 0; skipped <= resource; skipped++) {
		while (line < end && *line != '\n')
			line++;
		if (line < end)
			line++;
	}
	if (end - line < LIMITS_MIN_LINE)
		return 0;
	out->soft = parse_limit(line + LIMITS_SOFT_COLUMN, end);
	out->hard = parse_limit(line + LIMITS_HARD_COLUMN, end);
	return 1;
}

/* syscall(2) of libc, by its own signature with all six arguments named. */
long syscall(long number, long a, long b, long c, long d, long e, long f)
{
	long result = system_call(number, a, b, c, d, e, f);
	int refused_read = number == SYS_PRLIMIT64 && result == NOT_PERMITTED && c == 0 && d != 0;

	if (refused_read && limit_from_proc(a, b, (struct limit *)d))
		result = 0;
	if (result < 0 && result >= -MAX_ERRNO) {
		*__errno_location() = (int)-result;
		return -1;
	}
	return result;
}
