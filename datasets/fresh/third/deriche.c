/* Deriche's smoothing of a picture of n x n pixels, the argument: recursive filters of second
   order, there and back along rows, then down and up columns, one column after the
   other. Twice, from fine to coarse. Pictures are static, of single precision. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1280, TIMES = 2, REACH = 100 };

static float in[MOST * MOST], out[MOST * MOST], one[MOST * MOST], two[MOST * MOST];

static const double alphas[TIMES] = { 0.8, 0.35 };

static double scale(double alpha)
{
	double e = exp(-alpha);

	return (1 - e) * (1 - e) / (1 + 2 * alpha * e - e * e);
}

/* smooth goes four times through the picture, and adds what two ways have given. */
static void smooth(int n, double alpha)
{
	double e = exp(-alpha), k = scale(alpha);
	float a1 = (float)k, a2 = (float)(k * e * (alpha - 1)), a3 = (float)(k * e * (alpha + 1));
	float a4 = (float)(-k * e * e), b1 = (float)(2 * e), b2 = (float)(-e * e);

	for (int i = 0; i < n; i++) {
		float y1 = 0, y2 = 0, x1 = 0;
		for (int j = 0; j < n; j++) {
			float x = in[i * n + j], y = a1 * x + a2 * x1 + b1 * y1 + b2 * y2;
			one[i * n + j] = y;
			x1 = x;
			y2 = y1;
			y1 = y;
		}
	}
	for (int i = 0; i < n; i++) {
		float y1 = 0, y2 = 0, x1 = 0, x2 = 0;
		for (int j = n - 1; j >= 0; j--) {
			float y = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2;
			two[i * n + j] = y;
			x2 = x1;
			x1 = in[i * n + j];
			y2 = y1;
			y1 = y;
		}
	}
	for (int i = 0; i < n * n; i++)
		out[i] = one[i] + two[i];
	for (int j = 0; j < n; j++) {
		float y1 = 0, y2 = 0, x1 = 0;
		for (int i = 0; i < n; i++) {
			float x = out[i * n + j], y = a1 * x + a2 * x1 + b1 * y1 + b2 * y2;
			one[i * n + j] = y;
			x1 = x;
			y2 = y1;
			y1 = y;
		}
	}
	for (int j = 0; j < n; j++) {
		float y1 = 0, y2 = 0, x1 = 0, x2 = 0;
		for (int i = n - 1; i >= 0; i--) {
			float y = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2;
			two[i * n + j] = y;
			x2 = x1;
			x1 = out[i * n + j];
			y2 = y1;
			y1 = y;
		}
	}
	for (int i = 0; i < n * n; i++)
		out[i] = one[i] + two[i];
}

static double pixel(int i, int j)
{
	return (i * 7 + j * 5 + (i * j >> 3)) % 64 / 64.0 + (i % 50 < 25);
}

/* How much of a pixel so far away gets into another, along one axis. */
static double response(double alpha, int away)
{
	double x = alpha * abs(away);

	return scale(alpha) * (1 + x) * exp(-x);
}

/* worse returns the larger, and what is not a number if one is. */
static double worse(double a, double b)
{
	return a >= b || a != a ? a : b;
}

/* direct returns how far a pixel is from the sum over all around it. */
static double direct(int n, double alpha, int i, int j)
{
	int reach = (int)(16 / alpha);
	double h[REACH], sum = 0;

	for (int d = 0; d <= reach; d++)
		h[d] = response(alpha, d);
	for (int k = i - reach; k <= i + reach; k++)
		for (int l = j - reach; l <= j + reach; l++)
			if (k >= 0 && k < n && l >= 0 && l < n)
				sum += h[abs(k - i)] * h[abs(l - j)] * pixel(k, l);
	return fabs(out[i * n + j] - sum);
}

/* gain adds up how much of a pixel gets into a line of n, which is less at its ends. */
static double gain(int n, double alpha, int i)
{
	int reach = (int)(16 / alpha);
	double sum = 0;

	for (int k = i - reach; k <= i + reach; k++)
		if (k >= 0 && k < n)
			sum += response(alpha, k - i);
	return sum;
}

/* total returns how far the sum of all is from what it should be, in proportion. */
static double total(int n, double alpha)
{
	static double gains[MOST];
	double sum = 0, expected = 0;
	int reach = (int)(16 / alpha);

	for (int i = 0; i < n; i++)
		gains[i] = i > reach && i < n - reach ? gains[i - 1] : gain(n, alpha, i);
	for (int i = 0; i < n; i++) {
		double part = 0;
		for (int j = 0; j < n; j++) {
			sum += out[i * n + j];
			part += gains[j] * in[i * n + j];
		}
		expected += gains[i] * part;
	}
	return fabs(sum / expected - 1);
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0;
	double error = 0;

	if (n < 2 || n > MOST) {
		puts("usage: deriche N, from 2 to 1280");
		return 2;
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			in[i * n + j] = (float)pixel(i, j);
	for (int t = 0; t < TIMES; t++) {
		smooth(n, alphas[t]);
		error = worse(error, total(n, alphas[t]));
		for (int s = 0; s < 5; s++)
			error = worse(error, direct(n, alphas[t], (n - 1) * s / 4, (n - 1) * (3 * s % 5) / 4));
	}
	printf("deriche: n %d, middle %.5f, error %.1e\n", n, out[n / 2 * n + n / 2], error);
	return error < 1e-4 ? 0 : 1;
}
