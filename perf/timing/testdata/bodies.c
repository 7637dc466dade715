/* All pairs of n bodies attract one another: a division and a square root each. */
#include <math.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0;
	double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), *z = malloc(n * sizeof *z);
	double *m = malloc(n * sizeof *m), sum = 0;

	for (int i = 0; i < n; i++)
		x[i] = i % 17, y[i] = i % 29, z[i] = i % 31, m[i] = 1.0 / (i + 1);
	for (int i = 0; i < n; i++) {
		double ax = 0, ay = 0, az = 0;
		for (int j = 0; j < n; j++) {
			double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
			double r2 = dx * dx + dy * dy + dz * dz + 0.01;
			double f = m[j] / (r2 * sqrt(r2));
			ax += f * dx, ay += f * dy, az += f * dz;
		}
		sum += ax + ay + az;
	}
	return !(sum < 1e9);
}
