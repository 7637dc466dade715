/* Iperf in C: the kernels of the Go program of the same name that a compiler is
   left alone with, to be compiled at several levels, timed and taken apart. */
#define _POSIX_C_SOURCE 199309L
#include "iperf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OK, FAILED, USAGE };

enum { MAX_N = 16000 }; /* the array below 2 GB */

typedef struct {
	long n;
	const char *variant;
	bool time, quiet;
} options;

static bool is(const options *o, const char *variant) { return strcmp(o->variant, variant) == 0; }

/* refuse prints why the command line cannot be. */
static bool refuse(const char *what, const char *why)
{
	fprintf(stderr, "iperf: %s: %s\n", what, why);
	return false;
}

static bool parse(int argc, char **argv, options *o)
{
	for (int k = 1; k < argc; k++) {
		char *end;
		if (strcmp(argv[k], "-quiet") == 0) {
			o->quiet = true;
		} else if (strcmp(argv[k], "-time") == 0) {
			o->time = true;
		} else if (strcmp(argv[k], "-n") != 0 && strcmp(argv[k], "-variant") != 0) {
			return refuse(argv[k], "unexpected argument");
		} else if (k + 1 == argc) {
			return refuse(argv[k], "flag needs an argument");
		} else if (strcmp(argv[k++], "-variant") == 0) {
			o->variant = argv[k];
		} else {
			errno = 0;
			o->n = strtol(argv[k], &end, 10);
			if (errno || end == argv[k] || *end || o->n < 1 || o->n > MAX_N)
				return refuse(argv[k], "-n wants an integer from 1 to 16000");
		}
	}
	if (!is(o, "ij") && !is(o, "ji") && !is(o, "copy") && !is(o, "stencil"))
		return refuse(o->variant, "-variant wants ij, ji, copy or stencil");
	return true;
}

/* initial is what element k of a is before: a small integer, so that sums are
   exact. */
static double initial(long k) { return (double)(k % 1000); }

/* want is what element k of the array that the kernel writes is to be. */
static double want(const options *o, long k)
{
	long n = o->n, i = k / n, j = k % n;
	if (is(o, "copy"))
		return initial(k);
	if (!is(o, "stencil"))
		return initial(k) + 1;
	if (i == 0 || j == 0 || i == n - 1 || j == n - 1)
		return 0;
	return initial(k) + initial(k - n) + initial(k - 1) + initial(k + 1) + initial(k + n);
}

/* run returns the seconds that the kernel took. */
static double run(const options *o, double *b, double *a)
{
	struct timespec start, end;
	clock_gettime(CLOCK_MONOTONIC, &start);
	if (is(o, "ij"))
		kernel_ij(a, o->n);
	else if (is(o, "ji"))
		kernel_ji(a, o->n);
	else if (is(o, "copy"))
		kernel_copy(b, a, o->n);
	else
		kernel_stencil(b, a, o->n);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}

int main(int argc, char **argv)
{
	options o = {.n = 100, .variant = "ij"};
	if (!parse(argc, argv, &o))
		return USAGE;
	long size = is(&o, "copy") ? o.n : o.n * o.n;
	bool two = is(&o, "copy") || is(&o, "stencil");
	double *a = malloc(sizeof *a * (size_t)size), *b = two ? malloc(sizeof *b * (size_t)size) : a;
	if (!a || !b) {
		fprintf(stderr, "iperf: no memory for %ld elements\n", size);
		return FAILED;
	}
	for (long k = 0; two && k < size; k++)
		b[k] = 0;
	for (long k = 0; k < size; k++)
		a[k] = initial(k);
	double seconds = run(&o, b, a);
	if (!o.quiet)
		printf("iperf: n %ld, variant %s, %ld elements\n", o.n, o.variant, size);
	if (o.time)
		printf("kernel_sec: %.9f\n", seconds);
	for (long k = 0; k < size; k++)
		if (b[k] != want(&o, k)) {
			printf("verification: FAILED: element %ld is %g, want %g\n", k, b[k], want(&o, k));
			return FAILED;
		}
	printf("verification: successful\n");
	return OK;
}
