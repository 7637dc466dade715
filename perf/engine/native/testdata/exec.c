// Replaces itself by another program, as the first argument says: alone, while other
// threads wait and compute, from a thread that is not the first, again and again by
// itself, or after failures. What follows is the other program with its arguments.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char **others;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long work[1000];

static void *waits(void *p) {
	pthread_mutex_lock(&lock);
	return 0;
}

static void *computes(void *p) {
	for (long i = 0;; i++)
		work[i % 1000]++;
}

static void *replaces(void *p) {
	usleep(1000);
	execv(others[0], others);
	exit(3);
}

static void handle(int s) {}

int main(int argc, char **argv) {
	pthread_t t;
	if (argc < 3)
		return 2;
	others = argv + 2;
	signal(SIGUSR1, handle);
	signal(SIGUSR2, SIG_IGN);
	printf("before ");
	for (long i = 0; i < 5000; i++)
		work[i % 1000] += i;
	fflush(stdout);
	if (!strcmp(argv[1], "again")) {
		int n = atoi(argv[2]);
		char left[20];
		char *next[] = {argv[0], "again", left, 0};
		printf("%d\n", n);
		fflush(stdout);
		if (n == 0)
			return 6;
		snprintf(left, sizeof left, "%d", n - 1);
		execv("/proc/self/exe", next);
		return 3;
	}
	if (!strcmp(argv[1], "threads") || !strcmp(argv[1], "thread")) {
		pthread_mutex_lock(&lock);
		pthread_create(&t, 0, waits, 0);
		pthread_create(&t, 0, computes, 0);
	}
	if (!strcmp(argv[1], "thread")) {
		pthread_create(&t, 0, replaces, 0);
		for (;;)
			pause();
	}
	if (!strcmp(argv[1], "failing")) {
		execl("/no/such/program", "program", (char *)0);
		printf("errno %d ", errno == ENOENT);
		fflush(stdout);
	}
	execv(others[0], others);
	return 3;
}
