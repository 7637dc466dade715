// The sum of two matrices times a vector, a A x + b B x, for matrices of n x n, the argument.
// Ten times, each vector made of the result before. The matrices are vectors by rows; all
// are whole numbers, so that results are exact.
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int repeats = 10;
constexpr double a = 3, b = -2;

struct Matrix {
	explicit Matrix(int n) : n(n), elements(static_cast<size_t>(n) * n) {}
	double *row(int i) { return &elements[static_cast<size_t>(i) * n]; }
	const double *row(int i) const { return &elements[static_cast<size_t>(i) * n]; }

	int n;
	std::vector<double> elements;
};

static double weight(int i)
{
	return i % 5 + 1;
}

// fill makes up a matrix and returns the weighted sums of its columns.
static std::vector<double> fill(Matrix &m, unsigned seed)
{
	std::vector<double> sums(m.n);
	for (int i = 0; i < m.n; i++) {
		double *row = m.row(i);
		for (int j = 0; j < m.n; j++) {
			seed = seed * 1103515245u + 12345u;
			row[j] = static_cast<int>(seed >> 28) - 8;
			sums[j] += weight(i) * row[j];
		}
	}
	return sums;
}

static void gesummv(const Matrix &A, const Matrix &B, const std::vector<double> &x,
                    std::vector<double> &y)
{
	int n = A.n;
	for (int i = 0; i < n; i++) {
		const double *p = A.row(i), *q = B.row(i);
		double first = 0, second = 0;
		for (int j = 0; j < n; j++) {
			first += p[j] * x[j];
			second += q[j] * x[j];
		}
		y[i] = a * first + b * second;
	}
}

// element returns one of the result, summed from the other end.
static double element(const Matrix &A, const Matrix &B, const std::vector<double> &x, int i)
{
	double sum = 0;
	for (int j = A.n - 1; j >= 0; j--)
		sum += (a * A.row(i)[j] + b * B.row(i)[j]) * x[j];
	return sum;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? std::atoi(argv[1]) : 0, wrong = 0;
	if (n < 1 || n > 16384) {
		std::puts("usage: gesummv N");
		return 2;
	}
	Matrix A(n), B(n);
	std::vector<double> sumsA = fill(A, 11), sumsB = fill(B, 12), x(n), y(n);
	for (int j = 0; j < n; j++)
		x[j] = j % 7 - 3;
	double total = 0;
	for (int t = 0; t < repeats; t++) {
		gesummv(A, B, x, y);
		// The weighted sum of the result is that of weighted sums of columns.
		double expected = 0;
		total = 0;
		for (int j = 0; j < n; j++) {
			expected += (a * sumsA[j] + b * sumsB[j]) * x[j];
			total += weight(j) * y[j];
		}
		wrong += total != expected;
		int i = (t * 7919 + 1) % n;
		wrong += y[i] != element(A, B, x, i);
		for (int j = 0; j < n; j++)
			x[j] = static_cast<double>(static_cast<long>(y[j]) % 11 + (j + t) % 3);
	}
	std::printf("gesummv: n %d, weighted sum %.0f, wrong %d\n", n, total, wrong);
	return wrong ? 1 : 0;
}
