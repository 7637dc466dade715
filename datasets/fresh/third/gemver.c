/* Updates of a matrix by vectors and its products with vectors: A += u1 v1' + u2 v2',
   x = b A' y + z and w = a A x, six times, for a matrix of n x n, the argument, stored by rows
   and walked by columns for x. All is on the heap, and of whole numbers, so that it is
   exact. */
#include <stdio.h>
#include <stdlib.h>

enum { REPEATS = 6 };

static const double a = 2, b = -3;

static double *vector(size_t n)
{
	double *v = malloc(n * sizeof *v);

	if (!v) {
		puts("gemver: out of memory");
		exit(2);
	}
	return v;
}

/* element is what A holds before, and entry what a vector does at a repetition. */
static double element(int i, int j)
{
	return (i * 5 + j * 3) % 17 - 8;
}

static double entry(int which, int t, int i)
{
	return (i * (which + 2) + t * 5) % 7 - 3;
}

static void make(int n, int which, int t, double *v)
{
	for (int i = 0; i < n; i++)
		v[i] = entry(which, t, i);
}

static void update(int n, double *A, const double *u1, const double *v1, const double *u2,
                   const double *v2)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			A[(size_t)i * n + j] += u1[i] * v1[j] + u2[i] * v2[j];
}

static void transposed(int n, const double *A, const double *y, const double *z, double *x)
{
	for (int i = 0; i < n; i++) {
		double sum = 0;
		for (int j = 0; j < n; j++)
			sum += A[(size_t)j * n + i] * y[j];
		x[i] = b * sum + z[i];
	}
}

static void product(int n, const double *A, const double *x, double *w)
{
	for (int i = 0; i < n; i++) {
		double sum = 0;
		for (int j = 0; j < n; j++)
			sum += A[(size_t)i * n + j] * x[j];
		w[i] = a * sum;
	}
}

static double dot(int n, const double *p, const double *q)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += p[i] * q[i];
	return sum;
}

/* checked returns whether A is what it should be after all repetitions, in one row and times
   the vector r, with Ar for the product; and whether x and w are, by y.(A r) = (A' y).r. */
static int checked(int n, const double *A, const double *x, const double *w, const double *y,
                   const double *z)
{
	double *r = vector(n), *s = vector(n), *Ar = vector(n), *As = vector(n);
	int wrong = 0, row = n * 2 / 3;

	for (int i = 0; i < n; i++) {
		r[i] = i % 4 + 1;
		s[i] = i % 5 - 1;
		Ar[i] = As[i] = 0;
	}
	/* A r, and A' s, from how A is made up */
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			Ar[i] += element(i, j) * r[j];
			As[j] += element(i, j) * s[i];
		}
	for (int t = 0; t < REPEATS; t++)
		for (int pair = 0; pair < 2; pair++) {
			double vr = 0, us = 0;
			for (int j = 0; j < n; j++) {
				vr += entry(2 * pair + 1, t, j) * r[j];
				us += entry(2 * pair, t, j) * s[j];
			}
			for (int i = 0; i < n; i++) {
				Ar[i] += entry(2 * pair, t, i) * vr;
				As[i] += entry(2 * pair + 1, t, i) * us;
			}
		}
	wrong += dot(n, x, r) != b * dot(n, y, Ar) + dot(n, z, r);
	wrong += dot(n, w, s) != a * dot(n, As, x);
	for (int j = 0; j < n; j++) {
		double e = element(row, j);
		for (int t = 0; t < REPEATS; t++)
			e += entry(0, t, row) * entry(1, t, j) + entry(2, t, row) * entry(3, t, j);
		wrong += A[(size_t)row * n + j] != e;
	}
	free(r);
	free(s);
	free(Ar);
	free(As);
	return wrong == 0;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0, right;
	double *A, *u1, *v1, *u2, *v2, *x, *y, *z, *w;

	if (n < 1 || n > 16384) {
		puts("usage: gemver N");
		return 2;
	}
	A = vector((size_t)n * n);
	u1 = vector(n);
	v1 = vector(n);
	u2 = vector(n);
	v2 = vector(n);
	x = vector(n);
	y = vector(n);
	z = vector(n);
	w = vector(n);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			A[(size_t)i * n + j] = element(i, j);
	for (int t = 0; t < REPEATS; t++) {
		make(n, 0, t, u1);
		make(n, 1, t, v1);
		make(n, 2, t, u2);
		make(n, 3, t, v2);
		make(n, 4, t, y);
		make(n, 5, t, z);
		update(n, A, u1, v1, u2, v2);
		transposed(n, A, y, z, x);
		product(n, A, x, w);
	}
	right = checked(n, A, x, w, y, z);
	printf("gemver: n %d, w(0) %.0f, %s\n", n, w[0], right ? "right" : "wrong");
	return right ? 0 : 1;
}
