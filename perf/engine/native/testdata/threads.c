// Threads that share a lock, a condition and a counter, and one that spins.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;
static long sum;
static atomic_int go;
static _Thread_local long mine;

static void *work(void *p) {
	long n = (long)p;
	while (!go) // spin: the others must get turns
		;
	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&lock);
		while (turn != n)
			pthread_cond_wait(&changed, &lock);
		turn = (turn + 1) % 4;
		sum = sum * 3 + n + mine++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
		if (i % 50 == 0)
			usleep(10 * n);
	}
	return (void *)mine;
}

int main(void) {
	pthread_t t[4];
	int ends[2];
	if (pipe(ends))
		return 1;
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], 0, work, (void *)i);
	usleep(1000);
	go = 1;
	long total = 0;
	for (int i = 0; i < 4; i++) {
		void *r;
		pthread_join(t[i], &r);
		total += (long)r;
	}
	printf("%ld %ld\n", sum, total);
	return 0;
}
