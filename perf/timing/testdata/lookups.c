/* Random events: a draw decides between absorption and scattering, and where in a table
   of n entries the next cross section is read. */
#include <stdint.h>
#include <stdlib.h>

static uint64_t state = 7;

static double draw(void)
{
	state ^= state << 13, state ^= state >> 7, state ^= state << 17;
	return (state >> 11) / 9007199254740992.0;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0;
	double *sigma = malloc(n * sizeof *sigma), path = 0;
	long absorbed = 0, bounced = 0;

	for (int i = 0; i < n; i++)
		sigma[i] = 0.2 + draw();
	for (long p = 0; p < n; p++) {
		double weight = 1;
		while (weight > 0.05) {
			double s = sigma[(int)(draw() * n)];
			if (draw() < 0.4 * s) {
				absorbed++;
				weight *= 0.5;
			} else if (s > 0.6) {
				bounced++;
				weight *= 0.9;
			}
			path += weight / s;
		}
	}
	return !(path > 0 && absorbed + bounced > 0);
}
