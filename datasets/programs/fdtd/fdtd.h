/* Fdtd lets electromagnetic waves run in a box with conducting walls, by finite
 * differences in the time domain: electric and magnetic fields on staggered
 * meshes, a half step apart (Yee 1966). It is our own writing, made to be
 * profiled: streams of doubles with neighbours in three directions.
 *
 *	run
 *	  ├─ magnetic   H -= dt rot E
 *	  ├─ electric   E += dt rot H / permittivity, damped by conductivity
 *	  └─ source     a pulse in the middle, in the first steps
 *
 * There are n x n x n cells. Media: vacuum; layers (of permittivity 1 and 4);
 * lossy (a conducting block). Units: cells, and the speed of light 1.
 *
 * What is checked: the divergence of H, which starts as 0, stays 0 to rounding;
 * once the pulse is over, the energy E(t)·E(t) + H(t-½)·H(t+½), which the scheme
 * conserves exactly, is the same to rounding, or falls where something conducts.
 * The last line of output is "verification: successful", or "verification:
 * FAILED" with the reason and exit status 1. */
#ifndef FDTD_H
#define FDTD_H

#include <stdbool.h>
#include <stddef.h>

enum medium { VACUUM, LAYERS, LOSSY };

typedef struct {
	int n, steps, pulse; /* cells along an edge, steps, steps of the pulse */
	size_t row, plane;   /* of the arrays, which have n + 1 points along an edge */
	double dt;
	double *e[3], *h[3], *before[3]; /* fields by axis; H half a step before */
	double *gain, *keep;             /* by point: E = keep E + gain rot H */
	double energy, later;            /* after the pulse; at the end */
	double divergence, largest;      /* of H; its elements, at the end */
} box;

/* box.c; make returns false if there is not enough memory. */
bool make(box *b, int n, int steps, enum medium m);
void run(box *b);

/* verify.c */
double energy(const box *b);
void diverge(box *b);
bool verify(const box *b, enum medium m);

#endif
