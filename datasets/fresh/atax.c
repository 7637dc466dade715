/* A matrix times a vector, and its transpose times the result, a few times over, as when
   the largest singular value is looked for. The matrix has n x n elements, n is the
   argument, and all is on the heap. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 5 };

static double *array(size_t count)
{
	double *a = malloc(count * sizeof *a);

	if (!a) {
		puts("atax: out of memory");
		exit(2);
	}
	return a;
}

/* multiply sets y to the transpose of a times a x, and through to a x. */
static void multiply(int n, const double *restrict a, const double *restrict x,
                     double *restrict through, double *restrict y)
{
	for (int j = 0; j < n; j++)
		y[j] = 0;
	for (int i = 0; i < n; i++) {
		const double *row = a + (size_t)i * n;
		double sum = 0;
		for (int j = 0; j < n; j++)
			sum += row[j] * x[j];
		through[i] = sum;
		for (int j = 0; j < n; j++)
			y[j] += row[j] * sum;
	}
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0;
	double *a, *x, *y, *through, *columns, before = 0, worst = 0, value = 0;

	if (n < 1 || n > 20000) {
		puts("usage: atax N");
		return 2;
	}
	a = array((size_t)n * n), x = array(n), y = array(n), through = array(n);
	columns = array(n);
	for (int i = 0; i < n; i++) {
		x[i] = 1 / sqrt(n);
		columns[i] = 0;
	}
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++)
			a[(size_t)i * n + j] = (double)(i * 3 % 13 + 1) * (j * 5 % 11 + 1) / n;
		a[(size_t)i * n + i] += i % 5;
		for (int j = 0; j < n; j++)
			columns[j] += a[(size_t)i * n + j];
	}
	for (int t = 0; t < TIMES; t++) {
		double xy = 0, squares = 0, norm = 0, sum = 0, all = 0, other = 0;
		int j = (int)((long)n * t / TIMES);
		multiply(n, a, x, through, y);
		/* x . At A x is the square of A x, which adds up to what sums of columns
		   give; one element by its column. */
		for (int i = 0; i < n; i++) {
			xy += x[i] * y[i];
			squares += through[i] * through[i];
			norm += y[i] * y[i];
			all += through[i];
			other += columns[i] * x[i];
			sum += a[(size_t)i * n + j] * through[i];
		}
		worst = fmax(worst, fabs(xy / squares - 1));
		worst = fmax(worst, fabs(sum / y[j] - 1));
		worst = fmax(worst, fabs(all / other - 1));
		worst = fmax(worst, before / xy - 1); /* it never falls */
		before = xy;
		value = sqrt(xy);
		for (int i = 0; i < n; i++)
			x[i] = y[i] / sqrt(norm);
	}
	printf("atax: n %d, singular value %.6f, error %.1e\n", n, value, worst);
	return value > 0 && worst < 1e-12 ? 0 : 1;
}
