/* Fast Fourier transform of n = 2^a 3^b complex numbers, recursively, decimated in
   time. The size is the argument; arrays are on the heap. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
	double re, im;
} complex_t;

static complex_t *roots; /* exp(-2 pi i k / total) */
static int total;

static complex_t times(complex_t a, complex_t b)
{
	return (complex_t){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* transform sets out[0..n) to the transform of in[0], in[stride], … */
static void transform(complex_t *out, const complex_t *in, int n, int stride)
{
	if (n == 1) {
		out[0] = in[0];
		return;
	}
	int radix = n % 2 == 0 ? 2 : 3, m = n / radix;
	for (int r = 0; r < radix; r++)
		transform(out + r * m, in + r * stride, m, stride * radix);
	for (int k = 0; k < m; k++) {
		complex_t a = out[k], b = times(out[k + m], roots[k * stride]);
		if (radix == 2) {
			out[k] = (complex_t){a.re + b.re, a.im + b.im};
			out[k + m] = (complex_t){a.re - b.re, a.im - b.im};
			continue;
		}
		complex_t c = times(out[k + 2 * m], roots[2 * k * stride]);
		complex_t sum = {b.re + c.re, b.im + c.im};
		double h = sqrt(3) / 2, re = h * (b.im - c.im), im = -h * (b.re - c.re);
		out[k] = (complex_t){a.re + sum.re, a.im + sum.im};
		out[k + m] = (complex_t){a.re - sum.re / 2 + re, a.im - sum.im / 2 + im};
		out[k + 2 * m] = (complex_t){a.re - sum.re / 2 - re, a.im - sum.im / 2 - im};
	}
}

static complex_t *array(int n)
{
	complex_t *a = malloc((size_t)n * sizeof *a);

	if (!a) {
		puts("fft: out of memory");
		exit(2);
	}
	return a;
}

/* direct returns element k of the transform by its definition. */
static complex_t direct(const complex_t *in, int k)
{
	complex_t sum = {0, 0};

	for (int j = 0; j < total; j++) {
		complex_t t = times(in[j], roots[(long)j * k % total]);
		sum.re += t.re;
		sum.im += t.im;
	}
	return sum;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0, rest = n;

	while (rest > 0 && rest % 2 == 0)
		rest /= 2;
	while (rest > 0 && rest % 3 == 0)
		rest /= 3;
	if (rest != 1) {
		puts("usage: fft N, with no prime factors but 2 and 3");
		return 2;
	}
	total = n;
	roots = array(n);
	complex_t *in = array(n), *out = array(n);
	double norm = 0, sum = 0;
	for (int k = 0; k < n; k++) {
		roots[k].re = cos(2 * acos(-1) * k / n);
		roots[k].im = -sin(2 * acos(-1) * k / n);
		in[k].re = (k * 7 % 31 - 15) / 16.0;
		in[k].im = (k * 11 % 23 - 11) / 16.0;
		norm += in[k].re * in[k].re + in[k].im * in[k].im;
	}
	transform(out, in, n, 1);
	for (int k = 0; k < n; k++)
		sum += out[k].re * out[k].re + out[k].im * out[k].im;
	double parseval = fabs(sum / n / norm - 1), worst = 0;
	for (int i = 1; i <= 2; i++) {
		int k = (long)n * i / 3;
		complex_t want = direct(in, k % n);
		worst = fmax(worst, hypot(out[k % n].re - want.re, out[k % n].im - want.im) / sqrt(n * norm));
	}
	printf("fft: n %d, Parseval %.1e, error %.1e\n", n, parseval, worst);
	free(roots);
	free(in);
	free(out);
	return parseval < 1e-12 && worst < 1e-12 ? 0 : 1;
}
