// A thread of its own works on each half of an array.
#include <pthread.h>
#include <stdlib.h>

static int n;
static double *a;

static void *half(void *from)
{
	for (int step = 0; step < 10; step++)
		for (int i = *(int *)from; i < *(int *)from + n * n / 2; i++)
			a[i] += step;
	return 0;
}

int main(int argc, char **argv)
{
	n = atoi(argv[1]);
	a = calloc(n * n, sizeof *a);
	int from[2] = {0, n * n / 2};
	pthread_t other;
	pthread_create(&other, 0, half, &from[1]);
	half(&from[0]);
	pthread_join(other, 0);
	return a[0] != 45;
}
