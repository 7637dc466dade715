#include "cg.h"

#include <string.h>

static void advance(double *x, double *r, const double *p, const double *q, double alpha, int n);
static void direction(double *p, const double *r, double beta, int n);

/* iterate solves A x = b from x = 0 (Hestenes and Stiefel 1952, equations 3:1). */
void iterate(problem *p)
{
	int n = p->rows;
	double rr, enough;

	memset(p->x, 0, (size_t)n * sizeof *p->x);
	memcpy(p->r, p->b, (size_t)n * sizeof *p->r);
	memcpy(p->p, p->b, (size_t)n * sizeof *p->p);
	rr = dot(p->r, p->r, n);
	enough = CONVERGED * CONVERGED * rr;
	while (p->steps < p->iterations) {
		step *s = &p->history[p->steps++];
		multiply(p->q, &p->matrix, p->p, n);
		s->alpha = rr / dot(p->p, p->q, n);
		s->before = rr;
		advance(p->x, p->r, p->p, p->q, s->alpha, n);
		rr = s->residual = dot(p->r, p->r, n);
		if (rr <= enough)
			break;
		direction(p->p, p->r, rr / s->before, n);
	}
}

/* multiply sets dst = m v. */
__attribute__((noinline)) void multiply(double *dst, const csr *m, const double *v, int rows)
{
	const int32_t *start = m->start, *column = m->column;
	const double *value = m->value;
	int32_t e = start[0];

	for (int i = 0; i < rows; i++) {
		double sum = 0;
		for (int32_t end = start[i + 1]; e < end; e++)
			sum += value[e] * v[column[e]];
		dst[i] = sum;
	}
}

__attribute__((noinline)) double dot(const double *a, const double *b, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* advance takes a step along p. */
__attribute__((noinline)) static void advance(double *x, double *r, const double *p, const double *q, double alpha, int n)
{
	for (int i = 0; i < n; i++) {
		x[i] += alpha * p[i];
		r[i] -= alpha * q[i];
	}
}

/* direction sets p = r + beta p. */
__attribute__((noinline)) static void direction(double *p, const double *r, double beta, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = r[i] + beta * p[i];
}
