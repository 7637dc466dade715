/* Three square arrays, each after the node of a list that links them: a walk along the
   list leads from one allocation to the next. malloc maps arrays from 128 KiB on, and lays
   out smaller ones one after the other. */
#include <stdio.h>
#include <stdlib.h>

struct node {
	struct node *next;
	long visits;
	double at[];
};

static struct node *first;

static double *array(long elements)
{
	struct node *n = malloc(sizeof *n + elements * sizeof(double));
	if (!n)
		exit(1);
	n->next = first;
	n->visits = 0;
	for (long i = 0; i < elements; i++)
		n->at[i] = i % 7;
	first = n;
	return n->at;
}

__attribute__((noinline)) static void visit(void)
{
	for (struct node *n = first; n; n = n->next)
		n->visits++;
}

__attribute__((noinline)) static void kernel(long n, double *a, double *b, double *c)
{
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++)
			c[i * n + j] += a[j * n + i] * b[j * n + i];
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100;
	double *a = array(n * n), *b = array(n * n), *c = array(n * n);
	for (int i = 0; i < 3; i++) {
		visit();
		kernel(n, a, b, c);
	}
	visit();
	printf("%g %ld\n", c[n + 1], first->visits);
	return 0;
}
