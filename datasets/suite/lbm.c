/* A lattice Boltzmann method, nine directions in two dimensions, on a periodic square
   around an obstacle that reflects. The size N is fixed at compile time; the two
   static arrays take turns, a plane for each direction. */
#include <math.h>
#include <stdio.h>

#ifndef N
#define N 40
#endif
#ifndef STEPS
#define STEPS 4
#endif

enum { Q = 9 };

static double f[Q][N][N], g[Q][N][N];
static unsigned char solid[N][N];

static const int cx[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
static const int cy[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const int opposite[Q] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
static const double weight[Q] = {4.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36};

static double equilibrium(int q, double rho, double ux, double uy)
{
	double cu = 3 * (cx[q] * ux + cy[q] * uy);

	return weight[q] * rho * (1 + cu + 0.5 * cu * cu - 1.5 * (ux * ux + uy * uy));
}

/* collide relaxes f in each cell that is not solid. */
static void collide(void)
{
	const double omega = 1.2;

	for (int y = 0; y < N; y++)
		for (int x = 0; x < N; x++) {
			if (solid[y][x])
				continue;
			double rho = 0, ux = 0, uy = 0;
			for (int q = 0; q < Q; q++) {
				double v = f[q][y][x];
				rho += v;
				ux += cx[q] * v;
				uy += cy[q] * v;
			}
			ux /= rho;
			uy /= rho;
			for (int q = 0; q < Q; q++)
				f[q][y][x] += omega * (equilibrium(q, rho, ux, uy) - f[q][y][x]);
		}
}

/* stream moves what flows to the neighbours, or back from the obstacle. */
static void stream(double to[Q][N][N], double from[Q][N][N])
{
	for (int q = 0; q < Q; q++)
		for (int y = 0; y < N; y++) {
			int source = (y - cy[q] + N) % N;
			for (int x = 0; x < N; x++) {
				int column = (x - cx[q] + N) % N;
				to[q][y][x] = solid[source][column] ? from[opposite[q]][y][x] : from[q][source][column];
			}
		}
}

static double mass(void)
{
	double sum = 0;

	for (int q = 0; q < Q; q++)
		for (int y = 0; y < N; y++)
			for (int x = 0; x < N; x++)
				if (!solid[y][x])
					sum += f[q][y][x];
	return sum;
}

int main(void)
{
	double before, lowest = 1, skew = 0;

	for (int y = 0; y < N; y++)
		for (int x = 0; x < N; x++) {
			int dy = 2 * y - (N - 1), dx = 2 * x - (N - 1);
			solid[y][x] = dx * dx + dy * dy < N * N / 16;
			for (int q = 0; q < Q; q++)
				f[q][y][x] = solid[y][x] ? 0 : equilibrium(q, 1 + 0.1 * sin(2 * acos(-1) * x / N), 0.05, 0);
		}
	before = mass();
	for (int t = 0; t < STEPS; t++) {
		collide();
		stream(g, f);
		for (int q = 0; q < Q; q++)
			for (int y = 0; y < N; y++)
				for (int x = 0; x < N; x++)
					f[q][y][x] = solid[y][x] ? 0 : g[q][y][x];
	}
	/* Mass is kept, and upside down the flow is the same. */
	for (int y = 0; y < N; y += 3)
		for (int x = 0; x < N; x++) {
			lowest = fmin(lowest, solid[y][x] ? 1 : f[0][y][x]);
			skew = fmax(skew, fabs(f[5][y][x] - f[8][N - 1 - y][x]));
		}
	double lost = fabs(mass() / before - 1);
	printf("lbm: n %d, lost %.1e, skew %.1e\n", N, lost, skew);
	return lost < 1e-12 && skew < 1e-12 && lowest > 0 ? 0 : 1;
}
