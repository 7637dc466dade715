// A program whose size is compiled in, as -DN.
static double a[N][N], b[N][N], x[N], y[N];

__attribute__((noinline)) static void fill(void)
{
	for (int i = 0; i < N; i++) {
		x[i] = i;
		for (int j = 0; j < N; j++) {
			a[i][j] = i + j;
			b[i][j] = i - j;
		}
	}
}

__attribute__((noinline)) static void relax(void)
{
	for (int t = 0; t < 4; t++)
		for (int i = 1; i < N - 1; i++)
			for (int j = 1; j < N - 1; j++)
				a[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1] + b[i][j]) / 5;
}

__attribute__((noinline)) static void columns(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			y[i] += a[j][i] * x[j];
}

// turn is written otherwise for large sizes.
__attribute__((noinline)) static void turn(void)
{
	for (int i = 0; i < 8; i++)
		for (int j = 0; j < N; j++)
#if N < 100
			b[i][j] += a[i][j] * 2;
#else
			b[i][j] += a[j][i] * 2;
#endif
}

// shorten has half of the steps for large sizes.
__attribute__((noinline)) static void shorten(void)
{
	for (int i = 0; i < 8; i++)
		for (int j = 0; j < (N < 100 ? N : N / 2); j++)
			b[j][i] += a[j][i] * 3;
}

int main(void)
{
	fill();
	relax();
	columns();
	turn();
	shorten();
	return y[3] == 12345;
}
