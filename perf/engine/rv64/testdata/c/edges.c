/* Uses timers, links, folders and large files, one kind a run, and checks what it
 * gets: "ok" on success, otherwise the first line that failed. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NEED(what)                                                         \
	do {                                                               \
		if (!(what)) {                                             \
			printf("line %d: %s (errno %d)\n", __LINE__, #what, errno); \
			return 1;                                          \
		}                                                          \
	} while (0)

static volatile sig_atomic_t rings;
static volatile int value, code, overruns;
static double rang; /* when it did last */
static double now(clockid_t clock);
static timer_t timer;

static void ring(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)context;
	rings++;
	rang = now(CLOCK_MONOTONIC);
	code = info->si_code;
	value = info->si_value.sival_int;
	overruns += info->si_overrun;
}

static void listen_to(int sig, int flags)
{
	struct sigaction a = {.sa_sigaction = ring, .sa_flags = SA_SIGINFO | flags};
	sigaction(sig, &a, NULL);
}

static double now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Waits for a signal that interrupts a call, or the processor. */
static int alarms(void)
{
	listen_to(SIGALRM, 0);
	double start = now(CLOCK_MONOTONIC);
	NEED(alarm(2) == 0);
	NEED(alarm(3) == 2);
	pause();
	NEED(rings == 1 && now(CLOCK_MONOTONIC) - start >= 3 && now(CLOCK_MONOTONIC) - start < 3.1);
	NEED(alarm(1) == 0);
	NEED(sleep(10) == 9 && rings == 2);
	alarm(1);
	alarm(0);
	NEED(sleep(2) == 0 && rings == 2);

	struct itimerval each = {{0, 1000}, {0, 1000}}, left;
	listen_to(SIGVTALRM, 0);
	rings = 0;
	start = now(CLOCK_PROCESS_CPUTIME_ID);
	setitimer(ITIMER_VIRTUAL, &each, NULL);
	while (rings < 10)
		;
	NEED(now(CLOCK_PROCESS_CPUTIME_ID) - start >= 0.01 && now(CLOCK_PROCESS_CPUTIME_ID) - start < 0.012);
	NEED(getitimer(ITIMER_VIRTUAL, &left) == 0 && left.it_interval.tv_usec == 1000 && left.it_value.tv_usec <= 1000);
	each.it_value.tv_usec = 0;
	setitimer(ITIMER_VIRTUAL, &each, &left);
	NEED(left.it_interval.tv_usec == 1000);
	getitimer(ITIMER_VIRTUAL, &left);
	NEED(left.it_value.tv_usec == 0 && left.it_value.tv_sec == 0);
	each.it_value.tv_usec = 1000000;
	NEED(setitimer(ITIMER_VIRTUAL, &each, NULL) == -1 && errno == EINVAL);
	return 0;
}

static volatile int called;

static void call(union sigval v) { called += v.sival_int; }

static int timers(void)
{
	struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 42};
	struct itimerspec s = {{0, 0}, {0, 5000000}}, left;
	listen_to(SIGRTMIN, 0);
	NEED(timer_create(CLOCK_MONOTONIC, &e, &timer) == 0);
	double set_at = now(CLOCK_MONOTONIC);
	NEED(timer_settime(timer, 0, &s, NULL) == 0);
	NEED(timer_gettime(timer, &left) == 0 && left.it_value.tv_nsec > 0 && left.it_value.tv_nsec <= 5000000);
	while (rings == 0)
		;
	NEED(value == 42 && code == SI_TIMER);
	/* To a few instructions, not to a turn of 65 microseconds. */
	NEED(rang - set_at >= 0.005 && rang - set_at < 0.005010);
	rings = 0;
	timer_settime(timer, 0, &s, NULL);
	pause();
	NEED(rings == 1);
	timer_gettime(timer, &left);
	NEED(left.it_value.tv_nsec == 0);

	/* Blocked for ten intervals, it rings once and says what it stands for. */
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s.it_interval.tv_nsec = 1000000;
	s.it_value.tv_nsec = 1000000;
	timer_settime(timer, 0, &s, NULL);
	siginfo_t info;
	NEED(sigwaitinfo(&set, &info) == SIGRTMIN && info.si_value.sival_int == 42);
	NEED(timer_delete(timer) == 0 && timer_gettime(timer, &left) == -1 && errno == EINVAL);
	struct timespec none = {0, 0};
	while (sigtimedwait(&set, &info, &none) == SIGRTMIN)
		;

	/* At an absolute time, in a thread. */
	e.sigev_notify = SIGEV_THREAD;
	e.sigev_notify_function = call;
	NEED(timer_create(CLOCK_REALTIME, &e, &timer) == 0);
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	s.it_interval.tv_nsec = 0;
	s.it_value = t;
	s.it_value.tv_sec += 1;
	timer_settime(timer, TIMER_ABSTIME, &s, NULL);
	double start = now(CLOCK_MONOTONIC);
	for (int i = 0; i < 100 && called == 0; i++)
		usleep(100000);
	NEED(called == 42 && now(CLOCK_MONOTONIC) - start > 0.99 && now(CLOCK_MONOTONIC) - start < 1.2);
	e.sigev_notify = 77;
	NEED(timer_create(CLOCK_MONOTONIC, &e, &timer) == -1 && errno == EINVAL);
	return 0;
}

static int folders(void)
{
	NEED(chdir("/out") == 0);
	int fd = open("a", O_CREAT | O_RDWR, 0644);
	NEED(fd >= 0 && write(fd, "alpha", 5) == 5);
	NEED(posix_fallocate(fd, 0, 100) == 0);
	struct stat st;
	NEED(fstat(fd, &st) == 0 && st.st_size == 100);
	NEED(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 1000) == -1 && errno == EOPNOTSUPP);
	NEED(truncate("a", 5) == 0 && stat("a", &st) == 0 && st.st_size == 5);
	NEED(truncate("missing", 5) == -1 && errno == ENOENT);
	NEED(symlink("a", "soft") == 0 && link("a", "hard") == 0);
	char text[16] = "";
	int soft = open("soft", O_RDONLY), hard = open("hard", O_RDONLY);
	NEED(read(soft, text, 5) == 5 && memcmp(text, "alpha", 5) == 0);
	NEED(read(hard, text + 5, 5) == 5 && memcmp(text, "alphaalpha", 10) == 0);
	NEED(readlink("soft", text, sizeof text) == 1 && text[0] == 'a');
	DIR *d = opendir(".");
	NEED(d != NULL);
	char names[64] = "";
	for (struct dirent *e; (e = readdir(d)) != NULL;)
		sprintf(names + strlen(names), "%s:%d ", e->d_name, e->d_type);
	NEED(strcmp(names, ".:4 ..:4 a:8 hard:8 soft:10 ") == 0);
	rewinddir(d);
	NEED(strcmp(readdir(d)->d_name, ".") == 0);
	NEED(open("/in/pipe", O_RDONLY) == -1 && errno == EACCES);
	NEED(open("/in/pipe", O_RDONLY) == -1);
	NEED(open("/etc/passwd", O_RDONLY) == -1 && errno == ENOENT);
	return 0;
}

static int quota(void)
{
	int fd = open("/out/big", O_CREAT | O_RDWR, 0644);
	static char page[4096];
	int n = 0;
	while (n < 100 && write(fd, page, sizeof page) == sizeof page)
		n++;
	NEED(n == 16 && errno == ENOSPC);
	NEED(ftruncate(fd, 1L << 42) == -1 && errno == ENOSPC);
	NEED(ftruncate(fd, 10) == 0);
	return 0;
}

/* A gap behind the end of a file counts as written. */
static int gaps(void)
{
	int fd = open("/out/gaps", O_CREAT | O_RDWR, 0644);
	NEED(pwrite(fd, "x", 1, 1L << 40) == -1 && errno == ENOSPC);
	NEED(lseek(fd, 1L << 40, SEEK_SET) == 1L << 40 && write(fd, "x", 1) == -1 && errno == ENOSPC);
	NEED(pwrite(fd, "x", 1, 0xffff) == 1);
	NEED(pwrite(fd, "x", 1, 5) == -1 && errno == ENOSPC);
	return 0;
}

static long deep(long n)
{
	volatile char frame[1024];
	frame[0] = n;
	return n == 0 ? 0 : deep(n - 1) + frame[0];
}

static int large(void)
{
	volatile char array[16 << 20];
	array[0] = 1;
	return array[0] - 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int status = 2;
	struct rlimit limit;
	if (strcmp(what, "alarms") == 0)
		status = alarms();
	else if (strcmp(what, "timers") == 0)
		status = timers();
	else if (strcmp(what, "folders") == 0)
		status = folders();
	else if (strcmp(what, "quota") == 0)
		status = quota();
	else if (strcmp(what, "gaps") == 0)
		status = gaps();
	else if (strcmp(what, "limit") == 0) {
		getrlimit(RLIMIT_STACK, &limit);
		printf("%ld\n", (long)limit.rlim_cur);
		status = 0;
	} else if (strcmp(what, "deep") == 0)
		status = deep(atol(argv[2])) == 12345;
	else if (strcmp(what, "large") == 0)
		status = large();
	else if (strcmp(what, "open") == 0)
		status = fopen(argv[2], "r") == NULL;
	else if (strcmp(what, "null") == 0)
		status = *(volatile int *)8;
	if (status == 0)
		puts("ok");
	return status;
}
