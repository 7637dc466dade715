/* Threads that wait in every way at once, for testing snapshots: on a pipe, in
 * poll, pselect and epoll, asleep, for a signal, on a condition. Reads two files
 * line by line, one through a duplicated descriptor, and lists a folder. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static int pipes[4][2], event;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int rounds;
enum { ROUNDS = 12 };

static void say(const char *who, int round, long v)
{
	char line[80];
	int n = snprintf(line, sizeof line, "%s %d %ld\n", who, round, v);
	if (write(1, line, n) != n)
		_exit(99);
}

static void *reader(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		char c;
		if (read(pipes[0][0], &c, 1) == 1)
			say("read", i, c);
	}
	return NULL;
}

static void *poller(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		struct pollfd p[2] = {{pipes[1][0], POLLIN, 0}, {event, POLLIN, 0}};
		int n = poll(p, 2, 50);
		char c = 0;
		if (p[0].revents & POLLIN && read(pipes[1][0], &c, 1) != 1)
			_exit(98);
		say("poll", i, n * 1000 + c);
	}
	return NULL;
}

static void *selecter(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		fd_set set;
		FD_ZERO(&set);
		FD_SET(pipes[2][0], &set);
		struct timeval tv = {0, i % 3 == 0 ? 300 : 900000};
		int n = select(pipes[2][0] + 1, &set, NULL, NULL, &tv);
		char c = 0;
		if (FD_ISSET(pipes[2][0], &set) && read(pipes[2][0], &c, 1) != 1)
			_exit(97);
		say("select", i, n * 1000 + c);
	}
	return NULL;
}

static void *epoller(void *arg)
{
	(void)arg;
	int ep = epoll_create1(0);
	struct epoll_event e = {EPOLLIN | EPOLLET, {.u64 = 77}};
	epoll_ctl(ep, EPOLL_CTL_ADD, event, &e);
	e.data.u64 = 88;
	epoll_ctl(ep, EPOLL_CTL_ADD, pipes[3][0], &e);
	for (int i = 0; i < ROUNDS; i++) {
		struct epoll_event got[2];
		int n = epoll_wait(ep, got, 2, 40);
		uint64_t v = 0;
		if (n > 0 && got[0].data.u64 == 77 && read(event, &v, 8) != 8)
			_exit(96);
		say("epoll", i, n * 1000 + v);
	}
	return NULL;
}

static void *sleeper(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		struct timespec t = {0, 30000 + 7000 * i};
		nanosleep(&t, NULL);
		pthread_mutex_lock(&mu);
		rounds++;
		pthread_cond_broadcast(&cond);
		pthread_mutex_unlock(&mu);
	}
	return NULL;
}

static void *waiter(void *arg)
{
	(void)arg;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	for (int i = 0; i < ROUNDS; i++) {
		struct timespec t = {0, 400000};
		siginfo_t info;
		say("signal", i, sigtimedwait(&set, &info, &t));
	}
	return NULL;
}

static volatile sig_atomic_t hits;

static void on_usr1(int sig) { hits += sig; }

static void folder(void)
{
	DIR *d = opendir("/in");
	struct dirent *e;
	int n = 0;
	while ((e = readdir(d)) != NULL) {
		say(e->d_name, n++, e->d_type);
		for (volatile int i = 0; i < 3000; i++)
			;
	}
	closedir(d);
}

int main(void)
{
	void *(*work[])(void *) = {reader, poller, selecter, epoller, sleeper, waiter};
	pthread_t t[6];
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	struct sigaction sa = {.sa_handler = on_usr1};
	sigaction(SIGUSR1, &sa, NULL);
	for (int i = 0; i < 4; i++)
		if (pipe(pipes[i]) != 0)
			return 1;
	event = eventfd(0, EFD_NONBLOCK);
	for (int i = 0; i < 6; i++)
		pthread_create(&t[i], NULL, work[i], NULL);
	char *hidden = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	strcpy(hidden, "kept while nobody may look");
	mprotect(hidden, 8192, PROT_NONE);
	FILE *in = fopen("/in/numbers.txt", "r");
	int fd = dup(open("/in/letters.txt", O_RDONLY));
	int out = open("/out/log.txt", O_WRONLY | O_CREAT | O_APPEND, 0644);
	char line[64];
	long sum = 0;
	for (int i = 0; i < ROUNDS; i++) {
		if (fgets(line, sizeof line, in) != NULL)
			sum = sum * 31 + atol(line);
		char c = '?';
		if (read(fd, &c, 1) != 1 || write(pipes[i % 4][1], &c, 1) != 1)
			return 2;
		uint64_t one = i + 1;
		if (i % 3 == 1 && write(event, &one, 8) != 8)
			return 3;
		if (i % 4 == 2)
			pthread_kill(t[5], SIGUSR2);
		if (i % 4 == 3)
			kill(getpid(), SIGUSR1);
		unsigned r;
		if (getrandom(&r, sizeof r, 0) != sizeof r)
			return 4;
		if (fgets(line, sizeof line, stdin) != NULL)
			sum += strlen(line) * (r % 1000);
		dprintf(out, "%d %ld\n", i, sum);
		for (volatile int k = 0; k < 20000; k++)
			;
		pthread_mutex_lock(&mu);
		int target = rounds + 1 < ROUNDS ? rounds + 1 : rounds;
		while (rounds < target)
			pthread_cond_wait(&cond, &mu);
		pthread_mutex_unlock(&mu);
		say("main", i, sum);
	}
	for (int i = 0; i < ROUNDS; i++)
		if (write(pipes[0][1], "z", 1) != 1)
			return 5;
	folder();
	for (int i = 0; i < 6; i++)
		pthread_join(t[i], NULL);
	mprotect(hidden, 8192, PROT_READ);
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%s, %d hits, %ld.%09ld s, %d rounds\n", hidden, (int)hits, (long)now.tv_sec, now.tv_nsec, rounds);
	fflush(stdout);
	return 3;
}
