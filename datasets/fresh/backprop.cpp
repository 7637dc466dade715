// A network of n inputs, one layer of sixteen hidden units and one output, trained by
// back propagation with momentum. The number of inputs is the argument; weights are in
// vectors of vectors, a row for each unit that they come from.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Row = std::vector<double>;

constexpr int hiddenUnits = 16, epochs = 12;
constexpr double rate = 0.3, momentum = 0.3;

static double squash(double x) { return 1 / (1 + std::exp(-x)); }

// Weights lead from the units of one layer, of which number 0 is always 1, to the next's.
class Weights {
public:
	Weights(int from, int to, double size) : weight_(from + 1), change_(from + 1)
	{
		for (int k = 0; k <= from; k++) {
			weight_[k].resize(to + 1);
			change_[k].resize(to + 1);
			for (int j = 1; j <= to; j++)
				weight_[k][j] = size * ((k * 31 + j * 17) % 23 - 11) / 11;
		}
	}
	void forward(const Row &from, Row &to) const
	{
		for (size_t j = 1; j < to.size(); j++) {
			double sum = 0;
			for (size_t k = 0; k < from.size(); k++)
				sum += weight_[k][j] * from[k];
			to[j] = squash(sum);
		}
	}
	void adjust(const Row &delta, const Row &from)
	{
		for (size_t j = 1; j < delta.size(); j++)
			for (size_t k = 0; k < from.size(); k++) {
				double c = rate * delta[j] * from[k] + momentum * change_[k][j];
				weight_[k][j] += c;
				change_[k][j] = c;
			}
	}
	double operator()(int k, int j) const { return weight_[k][j]; }

private:
	std::vector<Row> weight_, change_;
};

// answer returns the output for hidden sums that are known, one of them moved by d.
static double answer(const Weights &output, const Row &hidden, int moved, double d)
{
	double sum = output(0, 1);
	for (int j = 1; j <= hiddenUnits; j++) {
		double h = hidden[j];
		if (j == moved)
			h = squash(std::log(h / (1 - h)) + d);
		sum += output(j, 1) * h;
	}
	return squash(sum);
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? std::atoi(argv[1]) : 0;
	if (n < 1) {
		std::puts("usage: backprop N");
		return 2;
	}
	Weights first(n, hiddenUnits, 3 / std::sqrt(n)), second(hiddenUnits, 1, 0.5);
	Row input(n + 1), hidden(hiddenUnits + 1), output(2);
	Row hiddenDelta(hiddenUnits + 1), outputDelta(2);
	const double target = 0.1;
	double begin = 0, end = 0, worst = 0, change = 0;
	input[0] = hidden[0] = 1;
	for (int k = 1; k <= n; k++)
		input[k] = (k * 37 % 101 - 50) / 50.0 / std::sqrt(n);
	for (int t = 0; t < epochs; t++) {
		first.forward(input, hidden);
		second.forward(hidden, output);
		end = std::fabs(target - output[1]);
		if (t == 0)
			begin = end;
		outputDelta[1] = output[1] * (1 - output[1]) * (target - output[1]);
		for (int j = 1; j <= hiddenUnits; j++)
			hiddenDelta[j] =
			    hidden[j] * (1 - hidden[j]) * outputDelta[1] * second(j, 1);
		if (t == epochs - 1) {
			// A weight's derivative, by moving it; a hidden unit, summed backwards.
			for (int j = 1; j <= hiddenUnits; j += 5) {
				int k = 1 + (n - 1) * j / hiddenUnits;
				double d = 1e-4;
				double up = target - answer(second, hidden, j, d * input[k]);
				double down = target - answer(second, hidden, j, -d * input[k]);
				double slope = -(up * up - down * down) / 2 / (2 * d);
				worst =
				    std::fmax(worst, std::fabs(hiddenDelta[j] * input[k] - slope));
			}
			double sum = 0;
			for (int k = n; k >= 0; k--)
				sum += first(k, hiddenUnits) * input[k];
			worst = std::fmax(worst, std::fabs(squash(sum) - hidden[hiddenUnits]));
		}
		double old = first(n, 2);
		second.adjust(outputDelta, hidden);
		first.adjust(hiddenDelta, input);
		change = rate * hiddenDelta[2] * input[n] + momentum * change;
		worst = std::fmax(worst, std::fabs(first(n, 2) - old - change));
	}
	std::printf("backprop: n %d, error of the output %.4f to %.4f, of checks %.1e\n", n, begin,
	            end, worst);
	return end < 0.75 * begin && worst < 1e-9 ? 0 : 1;
}
