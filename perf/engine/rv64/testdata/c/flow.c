/* Transfers control in all the ways of C: threads, longjmp out of calls and out
 * of a signal handler, signals that interrupt sleep and restart system calls,
 * function pointers, exit several calls deep. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static jmp_buf out;
static sigjmp_buf faulted;
static int pipes[2];
static volatile int handled, begun;

static void down(int n)
{
	if (n == 0)
		longjmp(out, 3);
	down(n - 1);
	handled += 100; /* not reached */
}

static void on_usr1(int sig) { handled += sig == SIGUSR1; }
static void on_segv(int sig) { siglongjmp(faulted, sig); }

static int twice(int x) { return 2 * x; }
static int square(int x) { return x * x; }
static int (*const table[])(int) = {twice, square, abs};

/* A read interrupted by a signal is restarted. */
static void *reader(void *arg)
{
	char c = 0;
	begun = 1;
	long n = read(pipes[0], &c, 1);
	return (void *)(n * 256 + c + (long)arg);
}

static void quit(int n)
{
	if (n == 0)
		exit(handled);
	quit(n - 1);
	handled++; /* not reached */
}

int main(void)
{
	int sum = 0, how = setjmp(out);
	if (how == 0)
		down(5);
	sum += how;
	struct sigaction usr1 = {.sa_handler = on_usr1, .sa_flags = SA_RESTART};
	sigaction(SIGUSR1, &usr1, NULL);
	struct sigaction segv = {.sa_handler = on_segv};
	sigaction(SIGSEGV, &segv, NULL);
	for (int i = 0; i < 3; i++)
		if (sigsetjmp(faulted, 1) == 0)
			*(volatile int *)0x40 = 1;
	if (pipe(pipes) != 0)
		return 1;
	pthread_t t;
	void *got;
	pthread_create(&t, NULL, reader, NULL);
	struct timespec little = {0, 100000};
	while (!begun)
		nanosleep(&little, NULL);
	for (int i = 0; i < 3; i++) {
		nanosleep(&little, NULL);
		pthread_kill(t, SIGUSR1);
	}
	nanosleep(&little, NULL);
	write(pipes[1], "x", 1);
	pthread_join(t, &got);
	raise(SIGUSR1);
	for (int i = 0; i < 300; i++)
		sum += table[i % 3](i);
	printf("%d %ld %d\n", sum, (long)got, handled);
	pthread_create(&t, NULL, reader, NULL); /* still waiting at the end */
	nanosleep(&little, NULL);
	quit(4);
}
