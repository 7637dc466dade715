/* Jacobi's iteration for Laplace's equation on a square, five-point stencil, two
   static arrays that take turns. The size N is fixed at compile time. */
#include <math.h>
#include <stdio.h>

#ifndef N
#define N 100
#endif
#ifndef STEPS
#define STEPS 8
#endif

static double u[N][N], v[N][N];

static void step(double to[N][N], double from[N][N])
{
	for (int i = 1; i < N - 1; i++)
		for (int j = 1; j < N - 1; j++)
			to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
}

/* mode is a solution that each step multiplies by cos(pi/(N-1)), beside a linear
   one that it leaves alone. */
static double mode(int i, int j, double factor)
{
	double h = acos(-1) / (N - 1);

	return 1 + 0.5 * i / N - 0.25 * j / N + factor * sin(h * i) * sin(h * j);
}

int main(void)
{
	double worst = 0, factor = 1;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			u[i][j] = v[i][j] = mode(i, j, 1);
	for (int t = 0; t < STEPS; t += 2) {
		step(v, u);
		step(u, v);
	}
	for (int t = 0; t < STEPS; t++)
		factor *= cos(acos(-1) / (N - 1));
	for (int i = 0; i < N; i += 7)
		for (int j = 0; j < N; j += 7)
			worst = fmax(worst, fabs(u[i][j] - mode(i, j, factor)));
	printf("jacobi2d: n %d, error %.1e\n", N, worst);
	return worst < 1e-12 ? 0 : 1;
}
