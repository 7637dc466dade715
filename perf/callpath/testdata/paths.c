// Paths of calls of each kind, each to a routine that accesses memory of its own.
#ifndef ALONE // one thread, and no signal
#include <pthread.h>
#endif
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { words = 512 };
typedef volatile long memory[words];
static memory direct, pointed, jumped, back, handled, threaded, folded, mutual, sorted;

static void __attribute__((noinline)) touch(volatile long *m) {
	for (int i = 0; i < words; i++)
		m[i]++;
}

static void __attribute__((noinline)) one(void) { touch(direct); __asm__ volatile("" ::: "memory"); }
static void __attribute__((noinline)) two(void) { touch(pointed); __asm__ volatile("" ::: "memory"); }

// A jump: touch returns to who called tail.
static void __attribute__((noinline)) tail(void) { touch(jumped); }

static jmp_buf home;
static void __attribute__((noinline)) leap(int depth) {
	if (depth == 0)
		longjmp(home, 1);
	leap(depth - 1);
	__asm__ volatile("" ::: "memory");
}
static void __attribute__((noinline)) landing(void) {
	if (setjmp(home) == 0)
		leap(20);
	touch(back);
	__asm__ volatile("" ::: "memory");
}

void handler(int number) { touch(handled); __asm__ volatile("" ::: "memory"); }

void *worker(void *nothing) { touch(threaded); __asm__ volatile("" ::: "memory"); return NULL; }

static void __attribute__((noinline)) recurse(int depth) {
	if (depth > 0)
		recurse(depth - 1);
	else
		touch(folded);
	__asm__ volatile("" ::: "memory");
}

static void odd(int depth);
static void __attribute__((noinline)) even(int depth) {
	if (depth > 0)
		odd(depth - 1);
	__asm__ volatile("" ::: "memory");
}
static void __attribute__((noinline)) odd(int depth) {
	if (depth > 0)
		even(depth - 1);
	else
		touch(mutual);
	__asm__ volatile("" ::: "memory");
}

static int compare(const void *a, const void *b) {
	sorted[*(const int *)a % words]++;
	return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv) {
	void (*volatile pointer)(void) = two;
	int list[64];
	one();
	pointer();
	tail();
	landing();
#ifndef ALONE
	pthread_t thread;
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	pthread_create(&thread, NULL, worker, NULL);
	pthread_join(thread, NULL);
#endif
	recurse(1000);
	even(11);
	for (int i = 0; i < 64; i++)
		list[i] = i * 37 % 64;
	qsort(list, 64, sizeof *list, compare);
	printf("%ld\n", direct[0] + pointed[0] + jumped[0] + back[0] + handled[0] + threaded[0] + folded[0] + mutual[0]);
	return 0;
}
