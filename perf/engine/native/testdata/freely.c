// Threads of several kinds, chosen by the first argument; how many threads, and how
// much each does, by the others.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { most = 64 };
static long threads, n;
static pthread_t t[most];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static long counter, queue[8], first, last, total;
static atomic_long handled, spinning;
static double results[most][16], *arrays[most];

// sums: each thread reads and writes memory of its own.
static void *sums(void *p) {
	double *a = arrays[(long)p], s = 0;
	for (long i = 0; i < n; i++)
		a[i] = i % 7 + (long)p;
	for (int k = 0; k < 4; k++)
		for (long i = 1; i < n - 1; i++) {
			a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
			if (i % 1024 == 0)
				s += a[i];
		}
	results[(long)p][0] = s;
	return 0;
}

// locked: all count under one lock.
static void *locked(void *p) {
	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&lock);
		counter += (long)p + 1;
		pthread_mutex_unlock(&lock);
	}
	return 0;
}

// pairs: even threads give, odd ones take.
static void *pairs(void *p) {
	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&lock);
		if ((long)p % 2 == 0) {
			while (last - first == 8)
				pthread_cond_wait(&emptied, &lock);
			queue[last++ % 8] = i * ((long)p + 1);
			pthread_cond_signal(&filled);
		} else {
			while (last == first)
				pthread_cond_wait(&filled, &lock);
			total += queue[first++ % 8];
			pthread_cond_signal(&emptied);
		}
		pthread_mutex_unlock(&lock);
	}
	return 0;
}

// storm: threads that start, do little and end.
static void *little(void *p) {
	results[(long)p % most][0] += 1;
	return p;
}

static void *storm(void *p) {
	long sum = 0;
	for (long i = 0; i < n; i++) {
		pthread_t u;
		void *r;
		if (pthread_create(&u, 0, little, p))
			exit(9);
		pthread_join(u, &r);
		sum += (long)r;
	}
	results[(long)p][1] = sum;
	return 0;
}

// signals: threads that are signalled while they compute.
static void handle(int s) { handled++; }

static void *signals(void *p) {
	volatile long x = 0;
	spinning++;
	for (long seen = handled; handled < threads * n && handled >= seen; x++)
		;
	return 0;
}

// woken: threads that compute, and then wait for what the handler of a signal does,
// which comes before or after.
static sem_t posted;

static void post(int s) { sem_post(&posted); }

static void *woken(void *p) {
	for (long i = 0; i < n; i++) {
		spinning++;
		for (volatile long x = 0; x < 30000; x++)
			;
		while (sem_wait(&posted))
			;
		handled++;
	}
	return 0;
}

// leaving: one thread ends the program while others compute.
static void *leaving(void *p) {
	if (p)
		for (volatile long x = 0;; x++)
			;
	for (volatile long x = 0; x < n; x++)
		;
	printf("leaving\n");
	exit(7);
}

// fault: the last thread reads what is not there.
static void *fault(void *p) {
	for (volatile long x = 0; x < n || (long)p < threads - 1; x++)
		;
	return (void *)*(volatile long *)8;
}

// code: each thread writes code of its own, again and again, and executes it.
static void *code(void *p) {
	unsigned char *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long sum = 0;
	for (int i = 0; i < n; i++) {
		at[0] = 0xb8; // mov eax, i; ret
		memcpy(at + 1, &i, 4);
		at[5] = 0xc3;
		for (int k = 0; k < 100; k++)
			sum += ((int (*)(void))at)();
	}
	results[(long)p][0] = sum;
	return 0;
}

// pipes: threads pass numbers on, in a ring.
static int ends[most][2];

static void *pipes(void *p) {
	long k = (long)p, x;
	for (long i = 0; i < n; i++) {
		if (read(ends[k][0], &x, sizeof x) != sizeof x)
			exit(8);
		if (k == 0)
			total += x;
		x++;
		if (write(ends[(k + 1) % threads][1], &x, sizeof x) != sizeof x)
			exit(8);
	}
	return 0;
}

// children: threads that start processes.
static void *children(void *p) {
	for (long i = 0; i < n; i++) {
		int status = system("exit 3");
		pthread_mutex_lock(&lock);
		counter += WEXITSTATUS(status);
		pthread_mutex_unlock(&lock);
	}
	return 0;
}

int main(int argc, char **argv) {
	static const struct {
		const char *name;
		void *(*work)(void *);
	} kinds[] = {{"sums", sums}, {"locked", locked}, {"pairs", pairs}, {"storm", storm}, {"signals", signals}, {"woken", woken}, {"leaving", leaving}, {"fault", fault}, {"code", code}, {"pipes", pipes}, {"children", children}};
	void *(*work)(void *) = 0;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (argc > 3 && !strcmp(argv[1], kinds[i].name))
			work = kinds[i].work;
	if (!work)
		return 2;
	threads = atol(argv[2]), n = atol(argv[3]);
	struct sigaction a = {.sa_handler = handle, .sa_flags = SA_RESTART};
	sigaction(SIGUSR1, &a, 0);
	signal(SIGUSR2, post);
	for (long i = 0; work == pipes && i < threads; i++)
		if (pipe(ends[i]))
			return 4;
	if (work == pipes && write(ends[0][1], &total, sizeof total) < 0)
		return 4;
	for (long i = 0; work == sums && i < threads; i++)
		arrays[i] = malloc(n * sizeof(double));
	for (long i = 0; i < threads; i++)
		if (pthread_create(&t[i], 0, work, (void *)i))
			return 3;
	if (work == signals) {
		while (spinning < threads)
			usleep(100);
		for (long i = 0; i < n; i++)
			for (long k = 0; k < threads; k++) {
				long before = handled;
				pthread_kill(t[k], SIGUSR1);
				while (handled == before) // one at a time: they do not queue
					usleep(100);
			}
	}
	for (long i = 0; work == woken && i < n; i++) {
		while (spinning <= i)
			sched_yield();
		pthread_kill(t[0], SIGUSR2);
		while (handled <= i)
			usleep(100);
	}
	for (long i = 0; i < threads; i++)
		pthread_join(t[i], 0);
	double sum = 0;
	for (int i = 0; i < most; i++)
		sum += results[i][0] + results[i][1];
	printf("%.6f %ld %ld %ld\n", sum, counter, total, (long)handled);
	return 0;
}
