// Makes vectors, each of ten times as many numbers, and lets them go.
#include <vector>

static double sum(int n) {
	std::vector<double> v(n, 1.5);
	double s = 0;
	for (double x : v)
		s += x;
	return s;
}

int main() {
	double s = 0;
	for (int n = 100; n <= 100000; n *= 10)
		s += sum(n);
	return s == 1.5 * 111100 ? 0 : 1;
}
