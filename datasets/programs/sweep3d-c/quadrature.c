#include "sweep3d.h"

/* The levels and weights of the level-symmetric S6 set, derived in
 * ../sweep3d/quadrature.go. */
#define LEVEL1 0.26663540151670472033
#define LEVEL2 0.68150772653654692740
#define LEVEL3 0.92618093551748910756
#define W1 (0.17612613086338343378 / OCTANTS)
#define W2 (0.15720720246994989955 / OCTANTS)

void level_symmetric_s6(quadrature *q)
{
	*q = (quadrature){
		.mu = {LEVEL1, LEVEL1, LEVEL1, LEVEL2, LEVEL2, LEVEL3},
		.eta = {LEVEL1, LEVEL2, LEVEL3, LEVEL1, LEVEL2, LEVEL1},
		.xi = {LEVEL3, LEVEL2, LEVEL1, LEVEL2, LEVEL1, LEVEL1},
		.w = {W1, W2, W1, W2, W2, W1},
	};
	for (int iq = 0; iq < OCTANTS; iq++) {
		direction d = octant(iq);
		for (int m = 0; m < ANGLES; m++) {
			q->pn[iq][m][0] = 1;
			q->pn[iq][m][1] = d.i2 * q->mu[m];
			q->pn[iq][m][2] = d.j2 * q->eta[m];
			q->pn[iq][m][3] = d.k2 * q->xi[m];
		}
	}
}

static int sign(int iq, int bit)
{
	return 2 * (iq >> bit & 1) - 1;
}

/* octant returns the directions of octant iq. Those that share the i and j
 * directions follow each other. */
direction octant(int iq)
{
	return (direction){.iq = iq, .i2 = sign(iq, 2), .j2 = sign(iq, 1), .k2 = sign(iq, 0)};
}
