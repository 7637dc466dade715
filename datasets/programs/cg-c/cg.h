/* Cg in C: the algorithm, the arrays and the output of the Go program in ../cg,
 * which documents them. */
#ifndef CG_H
#define CG_H

#include <stdbool.h>
#include <stdint.h>

/* A residual, relative to b in the 2-norm, at which iterations end. */
#define CONVERGED 1e-12

/* A square sparse matrix: the entries of row i are value[start[i]] to
 * value[start[i+1] - 1], in the columns named beside them, which ascend. */
typedef struct {
	int32_t *start, *column;
	double *value;
} csr;

/* What one iteration did: its length along p, and r.r before and after it. */
typedef struct {
	double alpha, before, residual;
} step;

typedef struct {
	int n, rows, iterations; /* mesh points along an edge, unknowns, limit */
	csr matrix;
	double *solution, *b;    /* known solution, right-hand side */
	double *x, *r, *p, *q;   /* iterate, residual, direction, A times it */
	int32_t *next;           /* work space of the check for symmetry */
	step *history;
	int steps; /* of history */
} problem;

typedef struct {
	bool finite;
	int asymmetric_in; /* a row that is not symmetric, or -1 */
	double matrix, residual, energy, remaining, allowed, error;
} findings;

/* problem.c; allocate returns false if there is not enough memory. */
bool allocate(problem *p, int n, int iterations);
void initialize(problem *p);
void stencil(double *dst, const double *v, int n);

/* iterate.c */
void iterate(problem *p);
void multiply(double *dst, const csr *m, const double *v, int rows);
double dot(const double *a, const double *b, int n);

/* verify.c; verify returns false after it has printed what is wrong. */
findings examine(problem *p);
bool verify(const findings *f);
void report(const problem *p, const findings *f);

#endif
