// Dithering of a grey picture of n x n points to black and white, with the errors of each
// point handed on to four neighbours (Floyd and Steinberg), and packing to a bit a point.
// The edge n is the argument; pictures are in vectors.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int white = 255;

// A Picture has a byte a point.
struct Picture {
	int width, height;
	std::vector<uint8_t> grey;
};

static Picture make(int n)
{
	Picture p = {n, n, std::vector<uint8_t>(static_cast<size_t>(n) * n)};
	uint32_t s = 1;
	for (int y = 0; y < n; y++)
		for (int x = 0; x < n; x++) {
			s = s * 1664525 + 1013904223;
			int slope = (x + y) * 100 / n, grain = s >> 27;
			int bump = (x / 16 + y / 16) % 2 * 20;
			p.grey[static_cast<size_t>(y) * n + x] = 10 + slope + bump + grain;
		}
	return p;
}

// Dither turns rows into bits, and keeps account of the error that falls off the edges.
class Dither {
public:
	explicit Dither(const Picture &from)
	    : from_(from), bytes_((from.width + 7) / 8),
	      bits_(static_cast<size_t>(bytes_) * from.height), here_(from.width + 2),
	      below_(from.width + 2)
	{
	}
	void run()
	{
		for (int y = 0; y < from_.height; y++) {
			row(y);
			lost_ +=
			    here_[0] + here_[from_.width + 1] + below_[0] + below_[from_.width + 1];
			below_[0] = below_[from_.width + 1] = 0;
			here_.swap(below_);
			below_.assign(below_.size(), 0);
		}
		for (int e : here_)
			lost_ += e;
	}
	bool isWhite(int y, int x) const
	{
		return bits_[static_cast<size_t>(y) * bytes_ + x / 8] >> (7 - x % 8) & 1;
	}
	int64_t lost() const { return lost_; }

private:
	void row(int y)
	{
		const uint8_t *grey = &from_.grey[static_cast<size_t>(y) * from_.width];
		uint8_t *to = &bits_[static_cast<size_t>(y) * bytes_];
		for (int x = 0; x < from_.width; x++) {
			int value = grey[x] + here_[x + 1];
			int error = value;
			if (value > white / 2) {
				to[x / 8] |= 0x80 >> x % 8;
				error = value - white;
			}
			int right = error * 7 / 16, left = error * 3 / 16, under = error * 5 / 16;
			here_[x + 1] = 0;
			here_[x + 2] += right;
			below_[x] += left;
			below_[x + 1] += under;
			below_[x + 2] += error - right - left - under;
		}
	}
	const Picture &from_;
	int bytes_;
	std::vector<uint8_t> bits_;
	std::vector<int> here_, below_; // errors, with a place more at both ends
	int64_t lost_ = 0;
};

// differ counts points of the first rows that are not what they should be, from the errors
// of those before each, all of which it keeps.
static int differ(const Picture &p, const Dither &d, int rows)
{
	std::vector<std::vector<int>> errors(rows + 1, std::vector<int>(p.width + 2));
	int count = 0;
	for (int y = 0; y < rows; y++)
		for (int x = 0; x < p.width; x++) {
			// Rows of errors are one lower, and columns one farther right.
			const std::vector<int> &above = errors[y];
			int value = p.grey[static_cast<size_t>(y) * p.width + x];
			int under = above[x + 1] * 5 / 16, last = above[x];
			value += errors[y + 1][x] * 7 / 16 + above[x + 2] * 3 / 16 + under;
			value += last - last * 7 / 16 - last * 3 / 16 - last * 5 / 16;
			bool isWhite = 2 * value > white;
			errors[y + 1][x + 1] = value - (isWhite ? white : 0);
			count += isWhite != d.isWhite(y, x);
		}
	return count;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? std::atoi(argv[1]) : 0;
	if (n < 1 || n > 30000) {
		std::puts("usage: dither N");
		return 2;
	}
	Picture picture = make(n);
	Dither d(picture);
	d.run();
	// Grey is kept, exactly in all, and nearly in squares; every fourth of them is counted.
	constexpr int edge = 32;
	int64_t sum = 0, whites = 0, worst = 0;
	for (uint8_t g : picture.grey)
		sum += g;
	for (int y = 0; y < n; y++)
		for (int x = 0; x < n; x++)
			whites += d.isWhite(y, x);
	for (int top = 0; top + edge <= n; top += 2 * edge)
		for (int left = 0; left + edge <= n; left += 2 * edge) {
			int64_t off = 0;
			for (int y = top; y < top + edge; y++)
				for (int x = left; x < left + edge; x++)
					off += picture.grey[static_cast<size_t>(y) * n + x] -
					       white * d.isWhite(y, x);
			worst = std::max(worst, std::abs(off));
		}
	int wrong = differ(picture, d, std::min(n, 8));
	int64_t balance = sum - white * whites - d.lost();
	std::printf("dither: n %d, white %.4f, balance %lld, worst square %.2f, wrong %d\n", n,
	            static_cast<double>(whites) / n / n, static_cast<long long>(balance),
	            static_cast<double>(worst) / edge / edge, wrong);
	return balance == 0 && wrong == 0 && worst < 10 * edge * edge ? 0 : 1;
}
