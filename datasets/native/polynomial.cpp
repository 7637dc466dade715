// A polynomial of degree 15 at n points, eight times.
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char **argv) {
	long n = argc > 1 ? std::atol(argv[1]) : 1000;
	std::vector<double> x(n), y(n);
	for (long i = 0; i < n; i++)
		x[i] = double(i) / n;
	double coefficient[16];
	for (int k = 0; k < 16; k++)
		coefficient[k] = 1.0 / (k + 1);
	for (int times = 0; times < 8; times++)
		for (long i = 0; i < n; i++) {
			double value = y[i] * 1e-3;
			for (int k = 15; k >= 0; k--)
				value = value * x[i] + coefficient[k];
			y[i] = value;
		}
	std::printf("%ld %g\n", n, y[n / 2]);
}
