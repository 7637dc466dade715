/* Loops that test what of a nest a binary tells. */
double table[40][50], other[2000];

/* constant_bounds: static arrays, trip counts that are numbers. */
__attribute__((noinline)) void constant_bounds(void)
{
	for (int i = 1; i < 40; i++)
		for (int j = 0; j < 50; j++)
			table[i][j] = other[i * 50 + j] + 1;
}

/* by_threes: a step that does not divide the bound. */
__attribute__((noinline)) void by_threes(double *a, long n)
{
	for (long i = 0; i < n; i += 3)
		a[i] += 1;
}

/* downward: from the end, to -1. */
__attribute__((noinline)) void downward(double *a, long n)
{
	for (long i = n - 1; i >= 0; i--)
		a[i] += 1;
}

/* triangle: the inner trip count changes with the outer loop. */
__attribute__((noinline)) void triangle(double *a, long n)
{
	for (long i = 0; i < n; i++)
		for (long j = 0; j < i; j++)
			a[i * n + j] += 1;
}

/* gathered: where a is accessed, memory says. */
__attribute__((noinline)) void gathered(double *a, const long *index, long n)
{
	for (long i = 0; i < n; i++) {
		long at = index[i];
		a[at] = 1;
	}
}

/* middle: left in the middle of an iteration. */
__attribute__((noinline)) void middle(double *a, double *b, long n)
{
	for (long i = 0;; i++) {
		a[i] += 1;
		if (i == n)
			break;
		b[i] += 1;
	}
}

int main(int argc, char **argv)
{
	static double a[100 * 100], b[100 * 100];
	static long index[100];
	(void)argv;
	constant_bounds();
	by_threes(a, 100 + argc);
	downward(a, 100 + argc);
	triangle(a, 90 + argc);
	gathered(a, index, 90 + argc);
	middle(a, b, 90 + argc);
	return a[argc] + b[argc] + table[argc][argc] == 12345.0;
}
