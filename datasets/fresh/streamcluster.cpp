// Clustering of a stream's points around centres that are opened and closed where that
// lowers the cost: the sum of squared distances, and a price for each centre. The number of
// points is the argument; points are in vectors, in three chunks, and each has a reference
// to its centre.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int dimensions = 24, chunks = 3, candidates = 32, clusters = 12;

struct Point {
	double cost;
	int centre;
	float at[dimensions];
};

static uint64_t seed = 99;

static uint32_t draw()
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 33;
}

static double distance(const Point &a, const Point &b)
{
	float sum = 0;
	for (int d = 0; d < dimensions; d++)
		sum += (a.at[d] - b.at[d]) * (a.at[d] - b.at[d]);
	return sum;
}

class Chunk {
public:
	Chunk(int n, double price) : price_(price), lower_(n), opened_(n), moves_(n)
	{
		for (int i = 0; i < n; i++) {
			Point p;
			int cluster = draw() % clusters;
			for (int d = 0; d < dimensions; d++)
				p.at[d] = static_cast<float>((cluster * 5 + d * 7) % clusters) +
				          (draw() >> 8) / 8388608.0f - 0.5f;
			points_.push_back(p);
		}
		open(0);
		for (Point &p : points_) {
			p.centre = 0;
			p.cost = distance(p, points_[0]);
			total_ += p.cost;
		}
	}

	// consider opens a centre at a candidate if that lowers the cost, counting those
	// which can be closed in its favour.
	void consider(int candidate)
	{
		if (opened_[candidate])
			return;
		const Point &to = points_[candidate];
		double gain = -price_;
		for (int c : open_)
			lower_[c] = 0;
		for (size_t i = 0; i < points_.size(); i++) {
			const Point &p = points_[i];
			double less = p.cost - distance(p, to);
			moves_[i] = less > 0;
			if (less > 0)
				gain += less;
			else
				lower_[p.centre] += less;
		}
		for (int c : open_)
			if (price_ + lower_[c] > 0)
				gain += price_ + lower_[c];
		if (gain > 0)
			move(candidate, gain);
	}

	int size() const { return static_cast<int>(points_.size()); }
	int centres() const { return static_cast<int>(open_.size()); }
	double total() const { return total_; }

	// right reports whether the cost is what it adds up to, and all centres are open.
	bool right() const
	{
		double sum = price_ * open_.size();
		size_t opened = 0;
		for (bool o : opened_)
			opened += o;
		for (const Point &p : points_) {
			double cost = distance(p, points_[p.centre]);
			if (!opened_[p.centre] || cost != p.cost)
				return false;
			sum += cost;
		}
		return opened == open_.size() && std::fabs(sum / total_ - 1) < 1e-9;
	}

private:
	void open(int i)
	{
		open_.push_back(i);
		opened_[i] = true;
		total_ += price_;
	}
	void move(int candidate, double gain)
	{
		for (size_t i = 0; i < points_.size(); i++) {
			Point &p = points_[i];
			if (moves_[i] || price_ + lower_[p.centre] > 0) {
				p.centre = candidate;
				p.cost = distance(p, points_[candidate]);
			}
		}
		std::vector<int> stay;
		for (int c : open_)
			if (price_ + lower_[c] > 0)
				opened_[c] = false;
			else
				stay.push_back(c);
		open_ = stay;
		total_ -= gain + price_; // which open adds
		open(candidate);
	}

	double price_, total_ = 0;
	std::vector<Point> points_;
	std::vector<int> open_;
	std::vector<double> lower_; // what closing a centre adds to the cost, negative
	std::vector<bool> opened_, moves_;
};

int main(int argc, char **argv)
{
	int n = argc == 2 ? std::atoi(argv[1]) : 0;
	if (n < 30) {
		std::puts("usage: streamcluster N, at least 30");
		return 2;
	}
	double begin = 0, end = 0;
	int centres = 0;
	bool ok = true;
	for (int c = 0; c < chunks; c++) {
		Chunk chunk(n / chunks, 4.0 * n / chunks);
		begin += chunk.total();
		for (int k = 0; k < candidates; k++)
			chunk.consider(draw() % chunk.size());
		end += chunk.total();
		centres += chunk.centres();
		ok = ok && chunk.right();
	}
	std::printf("streamcluster: n %d, centres %d, cost %.4e to %.4e, %s\n", n, centres, begin,
	            end, ok ? "consistent" : "wrong");
	return ok && end < 0.5 * begin ? 0 : 1;
}
