/* Loop nests whose innermost loops are affine, and one with a gather. */
#include <stdlib.h>

enum { N = SIZE };
double a[N][N], b[N][N], c[N][N], u[N][N][8], v[N][N][8];
int index_[N * N];

static void product(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			double s = 0;
			for (int k = 0; k < N; k++)
				s += a[i][k] * b[k][j];
			c[i][j] = s;
		}
}

static void interchanged(void)
{
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			for (int j = 0; j < N; j++)
				c[i][j] += a[i][k] * b[k][j];
}

static void stencil(void)
{
	for (int t = 0; t < 8; t++)
		for (int i = 1; i < N - 1; i++)
			for (int j = 1; j < N - 1; j++)
				c[i][j] = a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j] + b[i][N - j];
}

static void strided(void)
{
	for (int l = 0; l < 8; l++)
		for (int i = 0; i < N; i++)
			for (int j = 1; j < N; j++)
				v[i][j][l] = u[i][j][l] + u[i][j - 1][7 - l];
}

static void gather(void)
{
	for (int i = 0; i < N * N; i++)
		index_[i] = (int)((unsigned)i * 2654435761u % (N * N));
	for (int t = 0; t < 4; t++)
		for (int i = 0; i < N * N; i++)
			c[0][i] += a[0][index_[i]];
}

int main(int argc, char **argv)
{
	void (*const run[])(void) = {product, interchanged, stencil, strided, gather};
	run[argc > 1 ? atoi(argv[1]) : 0]();
	return 0;
}
