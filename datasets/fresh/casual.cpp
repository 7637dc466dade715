// What a casual programmer makes of velocities on the sides of a mesh of 7 x n zones:
// nested conditions choose what square roots are taken of and what they are divided by. The
// length n is the argument; the fields are vectors, a row after the other.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int rows = 7, repeats = 12;
constexpr double first = 0.053, second = 0.073;

class Field {
public:
	explicit Field(int n) : n_(n), a_(static_cast<size_t>(rows) * n) {}
	double &operator()(int j, int k) { return a_[static_cast<size_t>(j) * n_ + k]; }
	double operator()(int j, int k) const { return a_[static_cast<size_t>(j) * n_ + k]; }

private:
	int n_;
	std::vector<double> a_;
};

// compute sets up and along from f, g and h, except in the first row and column.
static void compute(int n, const Field &f, const Field &g, const Field &h, Field &up, Field &along)
{
	for (int j = 1; j < rows; j++)
		for (int k = 1; k < n; k++) {
			if (j == rows - 1) {
				up(j, k) = 0;
			} else {
				double t = h(j + 1, k) > h(j, k) ? first : second, r, s;
				if (f(j, k) < f(j, k - 1)) {
					r = std::max(h(j, k - 1), h(j + 1, k - 1));
					s = f(j, k - 1);
				} else {
					r = std::max(h(j, k), h(j + 1, k));
					s = f(j, k);
				}
				up(j, k) = std::sqrt(g(j, k) * g(j, k) + r * r) * t / s;
			}
			if (k == n - 1) {
				along(j, k) = 0;
			} else {
				double t, r, s;
				if (f(j, k) < f(j - 1, k)) {
					r = std::max(g(j - 1, k), g(j - 1, k + 1));
					s = f(j - 1, k);
					t = second;
				} else {
					r = std::max(g(j, k), g(j, k + 1));
					s = f(j, k);
					t = first;
				}
				along(j, k) = std::sqrt(h(j, k) * h(j, k) + r * r) * t / s;
			}
		}
}

// off returns how far a side's square is from what it should be: f of the larger of two
// zones, and the larger of two others' fields.
static double off(double value, double near, double far, double a, double b, double c, double d,
                  double other, double whenNear, double whenFar)
{
	double r = far > near ? std::max(c, d) : std::max(a, b);
	double s = std::max(near, far), t = far > near ? whenFar : whenNear;
	return std::fabs(value * value * s * s / (t * t * (other * other + r * r)) - 1);
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? std::atoi(argv[1]) : 0;
	if (n < 3) {
		std::puts("usage: casual N, at least 3");
		return 2;
	}
	Field f(n), g(n), h(n), up(n), along(n);
	for (int j = 0; j < rows; j++)
		for (int k = 0; k < n; k++) {
			f(j, k) = 1 + (j * 31 + k * 17) % 37 / 8.0;
			g(j, k) = 1 + (j * 13 + k * 11) % 29 / 4.0;
			h(j, k) = 1 + (j * 7 + k * 23) % 41 / 2.0;
		}
	for (int t = 0; t < repeats; t++) {
		compute(n, f, g, h, up, along);
		if (t < repeats - 1) { // the fields change a little
			f(1 + t % (rows - 1), n / 2) += 0.5;
			h(1 + t % (rows - 1), n / 3) += 0.25;
		}
	}
	double worst = 0, sum = 0; // the sum is for values that are not numbers
	for (int j = 1; j < rows; j++)
		for (int k = 1; k < n; k++) {
			sum += up(j, k) + along(j, k);
			if (j < rows - 1) {
				double t = h(j + 1, k) > h(j, k) ? first : second;
				worst = std::max(worst, off(up(j, k), f(j, k), f(j, k - 1), h(j, k),
				                            h(j + 1, k), h(j, k - 1),
				                            h(j + 1, k - 1), g(j, k), t, t));
			}
			if (k < n - 1)
				worst =
				    std::max(worst, off(along(j, k), f(j, k), f(j - 1, k), g(j, k),
				                        g(j, k + 1), g(j - 1, k), g(j - 1, k + 1),
				                        h(j, k), first, second));
		}
	std::printf("casual: n %d, error %.1e\n", n, worst);
	return sum > 0 && worst < 1e-12 && up(rows - 1, 1) == 0 && along(1, n - 1) == 0 ? 0 : 1;
}
