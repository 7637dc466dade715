/* Difference predictors: each of n series gets a new value, and the table of its
   differences, up to the ninth, is brought up to date, step by step. The number of series
   is the argument; tables are on the heap, a row for each series. */
#include <stdio.h>
#include <stdlib.h>

enum { DEGREE = 4, COLUMNS = 10, STEPS = 40 };

struct series {
	double coefficient[DEGREE + 1], value;
};

struct table {
	double difference[COLUMNS]; /* the last value, first difference and so on */
	double spare[COLUMNS / 2];  /* of other parts of the program */
};

static int n;
static struct series *cx;
static struct table *px;

/* polynomial returns a whole number: a series at a time. */
static double polynomial(const double *coefficient, double t)
{
	double sum = 0;

	for (int d = DEGREE; d >= 0; d--)
		sum = sum * t + coefficient[d];
	return sum;
}

static void observe(double t)
{
	for (int i = 0; i < n; i++)
		cx[i].value = polynomial(cx[i].coefficient, t);
}

static void update(void)
{
	for (int i = 0; i < n; i++) {
		double *d = px[i].difference, now = cx[i].value;
		for (int k = 0; k < COLUMNS; k++) {
			double before = d[k];
			d[k] = now;
			now -= before;
		}
	}
}

int main(int argc, char **argv)
{
	long wrong = 0;
	double sum = 0;

	n = argc == 2 ? atoi(argv[1]) : 0;
	if (n < 1) {
		puts("usage: differences N");
		return 2;
	}
	cx = malloc(n * sizeof *cx), px = malloc(n * sizeof *px);
	if (!cx || !px) {
		puts("differences: out of memory");
		return 2;
	}
	for (int i = 0; i < n; i++) {
		for (int d = 0; d <= DEGREE; d++)
			cx[i].coefficient[d] = (i * 7LL + d * 5) % 19 - 9;
		for (int k = 0; k < COLUMNS; k++)
			px[i].difference[k] = 1; /* it is forgotten in as many steps */
	}
	for (int t = 1; t <= STEPS; t++) {
		observe(t);
		update();
	}
	/* Of a polynomial of degree 4, the fourth difference is 4! times its highest
	   coefficient, and those above are nothing; the first two directly. */
	for (int i = 0; i < n; i++) {
		const double *c = cx[i].coefficient, *d = px[i].difference;
		wrong += d[0] != polynomial(c, STEPS);
		wrong += d[1] != polynomial(c, STEPS) - polynomial(c, STEPS - 1);
		wrong += d[DEGREE] != 24 * c[DEGREE];
		for (int k = DEGREE + 1; k < COLUMNS; k++)
			wrong += d[k] != 0;
		sum += d[2] + d[3];
	}
	printf("differences: n %d, sum %.0f, wrong %ld\n", n, sum, wrong);
	return wrong ? 1 : 0;
}
