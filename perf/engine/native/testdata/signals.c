// Signals of all kinds: faults whose handlers jump out, go on or change registers,
// signals that the program sends itself, timers, an alternative stack.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf out;
static volatile int counts[8];
static char *page;

static void jump(int s) {
	counts[0]++;
	siglongjmp(out, 1);
}

static void unprotect(int s, siginfo_t *i, void *c) {
	counts[1]++;
	if (i->si_addr != page + 100)
		_exit(9);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void skip(int s, siginfo_t *i, void *c) { // ud2 has two bytes
	counts[2]++;
	if (i->si_addr != (void *)((ucontext_t *)c)->uc_mcontext.gregs[REG_RIP])
		_exit(8);
	((ucontext_t *)c)->uc_mcontext.gregs[REG_RIP] += 2;
	((ucontext_t *)c)->uc_mcontext.gregs[REG_R13] = 4711;
}

static void count(int s) { counts[3] += s; }

static int deep(volatile char *p, int n) {
	volatile char big[4096];
	big[0] = *p;
	return n == 0 ? 0 : deep(big, n - 1) + big[0];
}

static void on(int s, void (*f)(int, siginfo_t *, void *), int flags) {
	struct sigaction a = {0};
	a.sa_sigaction = f;
	a.sa_flags = SA_SIGINFO | flags;
	sigfillset(&a.sa_mask);
	sigaction(s, &a, 0);
}

int main(void) {
	long sum = 0;
	signal(SIGSEGV, jump);
	for (int i = 0; i < 20; i++)
		if (!sigsetjmp(out, 1))
			for (int k = 0;; k++)
				sum += ((volatile char *)0)[k + 1];
	signal(SIGFPE, jump);
	for (volatile int i = 0; i < 5; i++)
		if (!sigsetjmp(out, 1))
			sum += 5 / (i - i);
	page = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	on(SIGSEGV, unprotect, 0);
	for (int i = 0; i < 200; i++)
		page[i + 100 - (i > 0) * i] += i; // the first write faults
	on(SIGILL, skip, 0);
	long r;
	asm volatile("mov $1, %%r13; ud2; mov %%r13, %0" : "=r"(r)::"r13");
	on(SIGTRAP, skip, 0);
	signal(SIGUSR1, count);
	sigset_t set, old;
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, &old);
	for (int i = 0; i < 4; i++)
		raise(SIGUSR1);
	sigset_t now;
	sigprocmask(SIG_SETMASK, &old, &now);
	printf("%d %d %d %ld blocked %d %d\n", counts[0], counts[1], counts[2], r, sigismember(&now, SIGSEGV), sigismember(&now, SIGUSR1));
	for (int i = 0; i < 10; i++)
		kill(getpid(), SIGUSR1);
	stack_t s = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	sigaltstack(&s, 0);
	on(SIGSEGV, (void (*)(int, siginfo_t *, void *))jump, SA_ONSTACK);
	char c = 0;
	if (!sigsetjmp(out, 1))
		deep(&c, 1 << 30);
	printf("%d %d %d %d\n", counts[0], counts[1], counts[2], counts[3]);
	fflush(stdout);
	signal(SIGSEGV, SIG_DFL);
	raise(SIGTERM);
	return 1;
}
