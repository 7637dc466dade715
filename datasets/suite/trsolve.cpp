// A lower triangular matrix times a matrix, and the triangular solve that undoes it.
// The size is the argument; matrices are on the heap, by new.
#include <cmath>
#include <cstdio>
#include <cstdlib>

class Matrix {
public:
	explicit Matrix(int n) : n_(n), a_(new double[static_cast<size_t>(n) * n]()) {}
	~Matrix() { delete[] a_; }
	Matrix(const Matrix &) = delete;
	Matrix &operator=(const Matrix &) = delete;
	double &operator()(int i, int j) { return a_[static_cast<size_t>(i) * n_ + j]; }
	double operator()(int i, int j) const { return a_[static_cast<size_t>(i) * n_ + j]; }
	int size() const { return n_; }

private:
	int n_;
	double *a_;
};

// multiply sets b = l b, from the last row up.
static void multiply(const Matrix &l, Matrix &b)
{
	int n = l.size();
	for (int i = n - 1; i >= 0; i--) {
		for (int j = 0; j < n; j++)
			b(i, j) *= l(i, i);
		for (int k = 0; k < i; k++) {
			double f = l(i, k);
			for (int j = 0; j < n; j++)
				b(i, j) += f * b(k, j);
		}
	}
}

// solve sets b to the solution x of l x = b, column by column.
static void solve(const Matrix &l, Matrix &b)
{
	int n = l.size();
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++) {
			double sum = b(i, j);
			for (int k = 0; k < i; k++)
				sum -= l(i, k) * b(k, j);
			b(i, j) = sum / l(i, i);
		}
}

static double value(int i, int j) { return (i * 13 + j * 7) % 29 - 14; }

int main(int argc, char **argv)
{
	int n = argc == 2 ? std::atoi(argv[1]) : 0;
	if (n < 1) {
		std::puts("usage: trsolve N");
		return 2;
	}
	Matrix l(n), b(n);
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < i; j++)
			l(i, j) = 1.0 / (2 + i - j + (i + j) % 5) / 4;
		l(i, i) = 2;
		for (int j = 0; j < n; j++)
			b(i, j) = value(i, j);
	}
	multiply(l, b);
	solve(l, b);
	double worst = 0;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			worst = std::fmax(worst, std::fabs(b(i, j) - value(i, j)));
	std::printf("trsolve: n %d, error %.1e\n", n, worst);
	return worst < 1e-8 ? 0 : 1;
}
