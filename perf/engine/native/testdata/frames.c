// Allocates from places whose return addresses have the same lowest bits, from deep and
// from shallow stacks, within other routines that allocate, and from a thread.
#define _GNU_SOURCE
#include <alloca.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

static void *volatile last;
static jmp_buf out;

__attribute__((noinline, aligned(4096))) static void one(long n) {
	last = malloc(n);
	free(last);
}

__attribute__((noinline, aligned(4096))) static void two(long n) {
	last = malloc(n);
	free(last);
}

__attribute__((noinline)) static void site(long n) {
	last = malloc(n);
	free(last);
}

__attribute__((noinline)) static void another(long n) {
	last = realloc(calloc(n, 3), n * 5);
	free(last);
}

__attribute__((noinline)) static void deep(int n, size_t room, void (*then)(long)) {
	volatile char *p = alloca(room);
	p[0] = p[room - 1] = n;
	if (n == 0)
		then(100 + room);
	else
		deep(n - 1, room, then);
	p[1] = n;
}

static int compare(const void *a, const void *b) {
	last = malloc(24);
	free(last);
	return *(int *)a - *(int *)b;
}

static void leaves(long n) {
	last = malloc(n);
	longjmp(out, 1);
}

static void *thread(void *p) {
	for (int i = 0; i < 20; i++) {
		one(i);
		deep(2, 5000, another);
		last = memalign(64, i + 1);
		free(last);
	}
	return p;
}

int main(void) {
	pthread_t t;
	for (int i = 0; i < 20; i++) {
		one(10 + i);
		two(20 + i);
	}
	deep(2, 9000, another); // the first call from there is deep
	for (int i = 0; i < 5; i++) {
		deep(30, 60, site);
		deep(1, 9000, another);
		another(i + 1);
	}
	for (int i = 0; i < 3; i++)
		if (!setjmp(out))
			deep(3, 100, leaves);
	int list[100];
	for (int i = 0; i < 100; i++)
		list[i] = i * 37 % 101;
	qsort(list, 100, sizeof *list, compare);
	pthread_create(&t, 0, thread, 0);
	thread(0);
	pthread_join(t, 0);
	deep(3, 9000, site); // and this one was not
	return 0;
}
