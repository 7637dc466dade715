// Correlations of n variables, the argument, from 40 observations of each: means and
// deviations by columns, the data standardised, then all pairs. The matrices are vectors
// by rows, and an observation is a row.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int observations = 40;

class Matrix {
public:
	Matrix(int rows, int columns) : columns_(columns), a_(static_cast<size_t>(rows) * columns) {}
	double &operator()(int i, int j) { return a_[static_cast<size_t>(i) * columns_ + j]; }
	double operator()(int i, int j) const { return a_[static_cast<size_t>(i) * columns_ + j]; }
	int columns() const { return columns_; }

private:
	int columns_;
	std::vector<double> a_;
};

static double draw()
{
	static uint64_t seed = 2026;
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return static_cast<double>(seed >> 40) / (1 << 24);
}

// fill makes up the data. Every fifth variable is three less twice the one before.
static void fill(Matrix &data)
{
	for (int k = 0; k < observations; k++) {
		double common = draw();
		for (int j = 0; j < data.columns(); j++)
			data(k, j) = j % 5 == 4 ? 3 - 2 * data(k, j - 1) : common * (j % 3) + draw();
	}
}

static void standardise(Matrix &data, std::vector<double> &mean, std::vector<double> &deviation)
{
	int n = data.columns();
	for (int j = 0; j < n; j++) {
		mean[j] = 0;
		for (int k = 0; k < observations; k++)
			mean[j] += data(k, j);
		mean[j] /= observations;
	}
	for (int j = 0; j < n; j++) {
		double sum = 0;
		for (int k = 0; k < observations; k++)
			sum += (data(k, j) - mean[j]) * (data(k, j) - mean[j]);
		deviation[j] = std::sqrt(sum / observations);
		if (deviation[j] <= 0.01)
			deviation[j] = 1; // all but constant
	}
	for (int k = 0; k < observations; k++)
		for (int j = 0; j < n; j++)
			data(k, j) = (data(k, j) - mean[j]) / (std::sqrt(observations) * deviation[j]);
}

static void correlate(const Matrix &data, Matrix &r)
{
	int n = data.columns();
	for (int i = 0; i < n; i++) {
		r(i, i) = 1;
		for (int j = i + 1; j < n; j++) {
			double sum = 0;
			for (int k = 0; k < observations; k++)
				sum += data(k, i) * data(k, j);
			r(i, j) = sum;
			r(j, i) = sum;
		}
	}
}

// worse returns the larger, and what is not a number if one is.
static double worse(double a, double b)
{
	return a >= b || a != a ? a : b;
}

// worst compares with what must hold: variables that depend on each other, the means
// and squares of standardised data, and w . R w, which is a sum of squares over
// observations, for weights w.
static double worst(const Matrix &data, const Matrix &r)
{
	int n = data.columns();
	double error = 0, quadratic = 0, squares = 0;
	std::vector<double> w(n), mean(n), square(n);
	for (double &e : w)
		e = draw() + 0.5;
	for (int i = 0; i < n; i++) {
		double sum = 0;
		for (int j = 0; j < n; j++)
			sum += r(i, j) * w[j];
		quadratic += w[i] * sum;
		if (i % 5 == 4)
			error = worse(error, std::fabs(r(i - 1, i) + 1));
	}
	for (int k = 0; k < observations; k++) {
		double sum = 0;
		for (int j = 0; j < n; j++) {
			sum += data(k, j) * w[j];
			mean[j] += data(k, j);
			square[j] += data(k, j) * data(k, j);
		}
		squares += sum * sum;
	}
	for (int j = 0; j < n; j++)
		error = worse(error, worse(std::fabs(mean[j]), std::fabs(square[j] - 1)));
	return worse(error, std::fabs(quadratic / squares - 1));
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? std::atoi(argv[1]) : 0;
	if (n < 5 || n > 16384) {
		std::puts("usage: correlation N, from 5");
		return 2;
	}
	Matrix data(observations, n), r(n, n);
	std::vector<double> mean(n), deviation(n);
	fill(data);
	double first = data(7, 1), last = data(observations - 1, n - 1);
	standardise(data, mean, deviation);
	correlate(data, r);
	// Two of the data as they were.
	double error = worst(data, r), scale = std::sqrt(observations);
	error = worse(error, std::fabs(data(7, 1) * scale * deviation[1] + mean[1] - first));
	error = worse(error, std::fabs(data(observations - 1, n - 1) * scale * deviation[n - 1] +
	                                   mean[n - 1] - last));
	std::printf("correlation: n %d, r(0, n-1) %.6f, error %.1e\n", n, r(0, n - 1), error);
	return error < 1e-10 ? 0 : 1;
}
