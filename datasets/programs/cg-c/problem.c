#include "cg.h"

#include <stdlib.h>

static void assemble(csr *m, int n);
static void fill(double *v, int rows);

bool allocate(problem *p, int n, int iterations)
{
	size_t rows = (size_t)n * n * n;
	size_t entries = rows + 6 * (size_t)n * n * (n - 1);
	double **vectors[] = {&p->solution, &p->b, &p->x, &p->r, &p->p, &p->q};
	bool ok = true;

	p->n = n;
	p->rows = (int)rows;
	p->iterations = iterations;
	p->steps = 0;
	p->matrix.start = malloc((rows + 1) * sizeof *p->matrix.start);
	p->matrix.column = malloc(entries * sizeof *p->matrix.column);
	p->matrix.value = malloc(entries * sizeof *p->matrix.value);
	p->next = malloc(rows * sizeof *p->next);
	p->history = malloc((size_t)iterations * sizeof *p->history);
	ok = p->matrix.start && p->matrix.column && p->matrix.value && p->next && p->history;
	for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
		*vectors[i] = calloc(rows, sizeof(double));
		ok = ok && *vectors[i];
	}
	return ok;
}

void initialize(problem *p)
{
	assemble(&p->matrix, p->n);
	fill(p->solution, p->rows);
	stencil(p->b, p->solution, p->n);
}

/* assemble writes the rows of the 7-point Laplacian, one after the other. */
static void assemble(csr *m, int n)
{
	/* Neighbours in the order of their columns: how far away, along which axis. */
	const struct {
		int apart, axis, side;
	} near[7] = {{-n * n, 2, -1}, {-n, 1, -1}, {-1, 0, -1}, {0, 0, 0}, {1, 0, 1}, {n, 1, 1}, {n * n, 2, 1}};
	int32_t row = 0, entry = 0;

	for (int k = 0; k < n; k++)
		for (int j = 0; j < n; j++)
			for (int i = 0; i < n; i++, row++) {
				const int at[3] = {i, j, k};
				m->start[row] = entry;
				for (int e = 0; e < 7; e++) {
					int there = at[near[e].axis] + near[e].side;
					if (there < 0 || there >= n)
						continue;
					m->column[entry] = row + near[e].apart;
					m->value[entry++] = near[e].side ? -1 : 6;
				}
			}
	m->start[row] = entry;
}

/* fill sets v to numbers in [1/2, 3/2), those of the Go program. */
static void fill(double *v, int rows)
{
	uint64_t s = 1;

	for (int i = 0; i < rows; i++) {
		s = s * 6364136223846793005u + 1442695040888963407u;
		v[i] = 0.5 + (double)(s >> 12) * 0x1p-52;
	}
}

/* stencil sets dst = A v without the matrix. */
void stencil(double *dst, const double *v, int n)
{
	int c = 0;

	for (int k = 0; k < n; k++)
		for (int j = 0; j < n; j++)
			for (int i = 0; i < n; i++, c++) {
				double sum = 6 * v[c];
				if (k > 0)
					sum -= v[c - n * n];
				if (j > 0)
					sum -= v[c - n];
				if (i > 0)
					sum -= v[c - 1];
				if (i < n - 1)
					sum -= v[c + 1];
				if (j < n - 1)
					sum -= v[c + n];
				if (k < n - 1)
					sum -= v[c + n * n];
				dst[c] = sum;
			}
}
