/* Sweep3d in C: the algorithm, the arrays and the output of the Go program in
 * ../sweep3d, which documents them. */
#ifndef SWEEP3D_H
#define SWEEP3D_H

#include <math.h>
#include <stdbool.h>

enum { ANGLES = 6, OCTANTS = 8, MOMENTS = 4 };

/* The problem's parameters as the command line gives them. */
typedef struct {
	int n, iterations; /* cells along each edge, outer iterations */
	int mk, mmi;       /* k-planes and angles a block, at most */
	double sigt, scattering, anisotropy;
	bool fixup, quiet;
} options;

/* The ordinates: cosines of the octant where all are positive, weights, and the
 * basis functions of the moments (1 and the signed cosines). */
typedef struct {
	double mu[ANGLES], eta[ANGLES], xi[ANGLES], w[ANGLES];
	double pn[OCTANTS][ANGLES][MOMENTS];
} quadrature;

/* Which way an octant's ordinates travel along each axis: +1 or -1. */
typedef struct {
	int iq, i2, j2, k2;
} direction;

/* What one sweep did to particles. */
typedef struct {
	double external, scattered, collided, leaked;
} particles;

/* What one outer iteration found. */
typedef struct {
	double err;
	int fixups;
	particles bal;
} iteration;

/* Arrays are laid out with the leftmost index fastest, which has the dimensions
 * that stand beside each: it = jt = kt = n, nm = MOMENTS. */
typedef struct {
	int n, cells, mk, mmi; /* cells is n^3 */
	double floor;          /* the value below which an outgoing flux is fixed up */
	quadrature quad;
	double *flux, *src;    /* (it,jt,kt,nm) */
	double *sigt;          /* (it,jt,kt) */
	double *sigs;          /* (it,jt,kt,2) */
	double *srcx, *pflux;  /* (it,jt,kt) */
	double *phiib;         /* (jt,mk,mmi) */
	double *phijb;         /* (it,mk,mmi) */
	double *phikb;         /* (it,jt,mmi) */
	double *phi;           /* (it) */
	double leak[6];        /* by face: i-, i+, j-, j+, k-, k+ */
	iteration *history;
	int iterations; /* of history */
} problem;

typedef struct {
	double imbalance, asymmetry;
	int imbalance_in, asymmetry_in; /* an iteration from 1, a cell */
} findings;

/* Twice the cosines of an ordinate, all positive, over the width of a cell. */
typedef struct {
	double i, j, k;
} coefficients;

static inline int smaller(int a, int b)
{
	return b < a ? b : a;
}

static inline int greater(int a, int b)
{
	return b > a ? b : a;
}

/* larger returns the larger of two numbers, NaN if one is. */
static inline double larger(double a, double b)
{
	return b > a || isnan(b) ? b : a;
}

/* options.c; parse returns false after it has printed why not. */
bool parse(int argc, char **argv, options *o);
int margin(const options *o);

/* problem.c; allocate returns false if there is not enough memory. */
bool allocate(problem *p, const options *o);
void initialize(problem *p, const options *o);

/* quadrature.c */
void level_symmetric_s6(quadrature *q);
direction octant(int iq);

/* inner.c */
void inner(problem *p);
double residual(const particles *s);

/* sweep.c; sweep returns how many updates were fixed up. */
int sweep(problem *p);

/* line.c; solve_line returns the flux that leaves the line. */
void angular_source(double *restrict phi, const double *restrict src, int cells, int n, const double *pn);
double solve_line(double *phi, const double *sigt, double *psi_j, double *psi_k, int n, double psi_i, const coefficients *c, int i2, double floor, int *fixups);
void add_moments(const double *restrict psi, double *restrict flux, int cells, int n, double w, const double *pn);

/* verify.c; verify returns false after it has printed what is wrong. */
findings examine(const problem *p);
bool verify(const problem *p, const findings *f);

/* report.c */
void report(const problem *p, const options *o, const findings *f);

/* Tolerances of the Go program, which says where they are from. */
#define BALANCE_TOLERANCE 1e-12
#define SYMMETRY_TOLERANCE 1e-10
#define FAINT_FLUX 1e-6

#endif
