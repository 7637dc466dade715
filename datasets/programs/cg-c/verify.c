#include "cg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Tolerances of the Go program, which says where they are from. */
#define MATRIX_TOLERANCE 1e-14
#define RESIDUAL_TOLERANCE 1e-12
#define ENERGY_TOLERANCE 1e-11

static int asymmetric(const csr *m, int32_t *next, int rows);
static double chebyshev(int n, int steps);

/* larger returns the larger of two numbers, NaN if one is. */
static double larger(double a, double b)
{
	return b > a || isnan(b) ? b : a;
}

static double distance(const double *a, const double *b, int n)
{
	double worst = 0;

	for (int i = 0; i < n; i++)
		worst = larger(worst, fabs(a[i] - b[i]));
	return worst;
}

/* examine measures what must hold. It uses p and q as work space. */
findings examine(problem *p)
{
	int n = p->rows;
	double scale = 0, first, left, lost = 0;
	findings f = {.finite = true, .asymmetric_in = asymmetric(&p->matrix, p->next, n)};

	for (int i = 0; i < n; i++)
		scale = larger(scale, fabs(p->b[i]));
	multiply(p->q, &p->matrix, p->solution, n);
	f.matrix = distance(p->q, p->b, n) / scale;
	stencil(p->q, p->x, p->n);
	for (int i = 0; i < n; i++)
		p->q[i] = p->b[i] - p->q[i];
	f.residual = distance(p->q, p->r, n) / scale;

	for (int i = 0; i < n; i++) {
		p->p[i] = p->solution[i] - p->x[i];
		f.error = larger(f.error, fabs(p->p[i]));
		f.finite = f.finite && isfinite(p->x[i]);
	}
	first = dot(p->solution, p->b, n);
	stencil(p->q, p->p, p->n);
	left = dot(p->p, p->q, n);
	for (int s = 0; s < p->steps; s++)
		lost += p->history[s].alpha * p->history[s].before;
	f.energy = fabs(first - lost - left) / first;
	f.remaining = left / first;
	f.allowed = chebyshev(p->n, p->steps);
	return f;
}

/* asymmetric returns the first row with an entry that its mirror image differs
 * from, or -1. next remembers how far each row has come. */
static int asymmetric(const csr *m, int32_t *next, int rows)
{
	memcpy(next, m->start, (size_t)rows * sizeof *next);
	for (int row = 0; row < rows; row++)
		for (int32_t e = m->start[row]; e < m->start[row + 1]; e++) {
			int32_t other = m->column[e], at = next[other]++;
			if (at >= m->start[other + 1] || m->column[at] != row || m->value[at] != m->value[e])
				return row;
		}
	for (int row = 0; row < rows; row++)
		if (next[row] != m->start[row + 1])
			return row;
	return -1;
}

/* chebyshev bounds the part of the first error's energy that is left. */
static double chebyshev(int n, int steps)
{
	const double pi = 3.14159265358979323846;
	double root = 1 / tan(pi / (2.0 * (n + 1)));
	double bound = 2 * pow((root - 1) / (root + 1), steps);

	return fmin(1, bound * bound);
}

bool verify(const findings *f)
{
	const char *why = NULL;

	if (!f->finite)
		why = "the solution is not finite";
	else if (f->asymmetric_in >= 0)
		why = "the matrix is not symmetric";
	else if (!(f->matrix <= MATRIX_TOLERANCE))
		why = "the matrix times the solution differs from the right-hand side";
	else if (!(f->residual <= RESIDUAL_TOLERANCE))
		why = "the residual carried along differs from that of x";
	else if (!(f->energy <= ENERGY_TOLERANCE))
		why = "the energy of the error and what the steps took from it differ";
	else if (!(f->remaining <= f->allowed + ENERGY_TOLERANCE))
		why = "more of the error is left than conjugate gradients can leave";
	if (why)
		printf("verification: FAILED: %s\n", why);
	return !why;
}

static void within(const char *before, double x, double tolerance, const char *after)
{
	if (x <= tolerance)
		printf("%srelative error below %g%s", before, tolerance, after);
	else
		printf("%srelative error %.3g, above %g%s", before, x, tolerance, after);
}

void report(const problem *p, const findings *f)
{
	double bb = p->history[0].before, energy = 1, sum = 0, squares = 0;
	double total = dot(p->solution, p->b, p->rows);

	printf("cg: n %d, unknowns %d, entries %d, iterations at most %d\n", p->n, p->rows, (int)p->matrix.start[p->rows], p->iterations);
	for (int s = 0; s < p->steps; s++) {
		energy -= p->history[s].alpha * p->history[s].before / total;
		printf("iteration %d: residual %.9f, energy of the error %.9f\n", s + 1, sqrt(p->history[s].residual / bb), fabs(energy));
	}
	for (int i = 0; i < p->rows; i++) {
		sum += p->x[i];
		squares += p->x[i] * p->x[i];
	}
	printf("solution: sum %.9e, norm %.9e, largest error %.9f\n", sum, sqrt(squares), f->error);
	printf("matrix: symmetric %s, ", f->asymmetric_in < 0 ? "true" : "false");
	within("times the solution: ", f->matrix, MATRIX_TOLERANCE, "\n");
	within("residual: ", f->residual, RESIDUAL_TOLERANCE, "\n");
	within("energy: ", f->energy, ENERGY_TOLERANCE, ", ");
	printf("left %.9f, allowed %.9f\n", fabs(f->remaining), f->allowed);
}
