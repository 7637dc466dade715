// Accesses that fail, chosen by the first argument: on a stack of a MiB that is full, and
// others.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { limit = 1 << 20 };

__attribute__((noinline)) static long deep(long n) {
	volatile char frame[200];
	frame[0] = n;
	return n == 0 ? 0 : deep(n - 1) + frame[0];
}

// calls: only its call stores.
__attribute__((noinline)) static long calls(long n) { return n == 0 ? 0 : 1 + calls(n - 1) * 3 % 7; }

__attribute__((noinline)) static long large(long n) {
	volatile char frame[n];
	frame[0] = n;
	return frame[0];
}

static void *thread(void *p) { return (void *)deep((long)p); }

static void handle(int s) { _exit(3); }

int main(int argc, char **argv) {
	const char *what = argv[1];
	long n = atol(argv[2]), result = 0;
	volatile char here = 1;
	struct rlimit r;
	getrlimit(RLIMIT_STACK, &r);
	r.rlim_cur = limit;
	setrlimit(RLIMIT_STACK, &r);
	if (!strcmp(what, "handled"))
		signal(SIGSEGV, handle);
	if (!strcmp(what, "elsewhere")) {
		stack_t s = {malloc(1 << 16), 0, 1 << 16};
		sigaltstack(&s, 0);
		struct sigaction a = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
		sigaction(SIGSEGV, &a, 0);
	}
	if (!strcmp(what, "thread")) {
		pthread_t t;
		pthread_attr_t a;
		pthread_attr_init(&a);
		pthread_attr_setstacksize(&a, limit);
		pthread_create(&t, &a, thread, (void *)n);
		pthread_join(t, 0);
	} else if (!strcmp(what, "calls"))
		result = calls(n);
	else if (!strcmp(what, "large"))
		result = large(n);
	else if (!strcmp(what, "wild"))
		result = *(volatile char *)n;
	else if (!strcmp(what, "below"))
		result = *(&here - n);
	else
		result = deep(n);
	return result & 1;
}
