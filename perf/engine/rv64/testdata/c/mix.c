/* Exercises a static C program: stdio, malloc with large blocks, qsort,
 * floating point, threads with mutex and condition variable, signals,
 * setjmp, thread-local storage. */
#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int turn, total;
static __thread int mine;
static __thread char name[32];

static void *worker(void *arg)
{
	int id = (int)(intptr_t)arg;
	snprintf(name, sizeof name, "worker %d", id);
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&mu);
		while (turn % 4 != id)
			pthread_cond_wait(&cond, &mu);
		turn++;
		total += id;
		mine++;
		pthread_cond_broadcast(&cond);
		pthread_mutex_unlock(&mu);
	}
	char *copy = malloc(strlen(name) + 16);
	sprintf(copy, "%s: %d", name, mine);
	return copy;
}

static void threads(void)
{
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, worker, (void *)(intptr_t)i);
	for (int i = 0; i < 4; i++) {
		void *text;
		pthread_join(t[i], &text);
		puts(text);
		free(text);
	}
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 1000000;
	if (until.tv_nsec >= 1000000000)
		until.tv_sec++, until.tv_nsec -= 1000000000;
	pthread_mutex_lock(&mu);
	int e = pthread_cond_timedwait(&cond, &mu, &until);
	pthread_mutex_unlock(&mu);
	printf("total %d, timed out %d\n", total, e == ETIMEDOUT);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void numbers(void)
{
	enum { n = 5000 };
	double *v = malloc(n * sizeof *v);
	uint32_t s = 12345;
	for (int i = 0; i < n; i++) {
		s = s * 1664525 + 1013904223;
		v[i] = sin(s * 1e-6) * exp(i * 1e-3);
	}
	qsort(v, n, sizeof *v, compare);
	double sum = 0;
	float fsum = 0;
	for (int i = 0; i < n; i++)
		sum += v[i] * i, fsum += (float)v[i] / 3;
	printf("%.17g %.9g %a %d\n", sum, fsum, v[n / 2], (int)v[10]);
	feclearexcept(FE_ALL_EXCEPT);
	volatile double one = 1, three = 3, zero = 0, huge = 1e308;
	volatile double r = one / three;
	printf("inexact %d", fetestexcept(FE_INEXACT) != 0);
	r = one / zero;
	r = huge * huge;
	printf(" divide %d overflow %d\n", fetestexcept(FE_DIVBYZERO) != 0, fetestexcept(FE_OVERFLOW) != 0);
	int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
	for (int i = 0; i < 4; i++) {
		fesetround(modes[i]);
		r = one / three;
		printf("%a %ld %.3f\n", r, lrint(2.5), 0.0625 * three);
	}
	fesetround(FE_TONEAREST);
	free(v);
	char *big = malloc(100 << 20);
	big[0] = big[(100 << 20) - 1] = 1;
	big = realloc(big, 150 << 20);
	printf("%d %d\n", big[0], big[(100 << 20) - 1]);
	free(big);
}

static sigjmp_buf back;
static volatile sig_atomic_t hits;

static void on_usr1(int sig) { hits += sig == SIGUSR1; }

static void on_segv(int sig, siginfo_t *info, void *ctx)
{
	(void)sig, (void)ctx;
	siglongjmp(back, info->si_addr == (void *)0x40 ? 1 : 2);
}

static volatile int woken;

static void *sleeper(void *arg)
{
	(void)arg;
	struct timespec long_time = {1000, 0};
	int r = nanosleep(&long_time, NULL);
	woken = 1;
	return (void *)(intptr_t)(r == -1 && errno == EINTR);
}

/* A signal interrupts a thread's sleep. */
static void interrupted(void)
{
	pthread_t t;
	void *eintr;
	pthread_create(&t, NULL, sleeper, NULL);
	while (!woken) {
		struct timespec little = {0, 1000000};
		nanosleep(&little, NULL);
		pthread_kill(t, SIGUSR1);
	}
	pthread_join(t, &eintr);
	printf("interrupted %d\n", (int)(intptr_t)eintr);
	hits = 0;
}

static void signals(void)
{
	struct sigaction sa = {.sa_handler = on_usr1};
	sigaction(SIGUSR1, &sa, NULL);
	interrupted();
	raise(SIGUSR1);
	kill(getpid(), SIGUSR1);
	struct sigaction segv = {.sa_sigaction = on_segv, .sa_flags = SA_SIGINFO};
	sigaction(SIGSEGV, &segv, NULL);
	int how = sigsetjmp(back, 1);
	if (how == 0)
		*(volatile int *)0x40 = 1;
	printf("signals %d, fault %d\n", (int)hits, how);
}

int main(int argc, char **argv)
{
	printf("%d args", argc - 1);
	for (int i = 1; i < argc; i++)
		printf(" [%s]", argv[i]);
	printf(", no terminal %d\n", !isatty(1));
	numbers();
	threads();
	signals();
	char line[80];
	while (fgets(line, sizeof line, stdin))
		printf("> %s", line);
	fflush(stdout);
	return 5;
}
