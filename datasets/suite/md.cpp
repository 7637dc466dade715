// Molecular dynamics of a Lennard-Jones liquid in a periodic box: n layers of 8 x 8
// particles, lists of neighbours made from cells, velocity Verlet. The layers are the
// argument; arrays are std::vectors.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static const double cutoff = 2.0, skin = 0.3, dt = 0.002, spacing = 1.2;
static const int edge = 8, steps = 4, rebuild = 2;

struct Vec {
	double x, y, z;
};

class System {
public:
	explicit System(int n);
	void neighbours();
	void forces();
	void kick();
	void drift();
	double kinetic() const;
	double potential() const { return potential_; }
	Vec momentum() const;

private:
	static double image(double d, double box) { return d - box * std::floor(d / box + 0.5); }
	static int cell(double at, double box, int cells)
	{
		int c = static_cast<int>(at / box * cells);
		return c < 0 ? 0 : c >= cells ? cells - 1 : c;
	}
	Vec between(const Vec &a, const Vec &b) const
	{
		return {image(a.x - b.x, side_), image(a.y - b.y, side_), image(a.z - b.z, height_)};
	}

	double side_, height_, potential_ = 0;
	int across_, up_; // cells along a side, and along the height
	std::vector<Vec> at_, v_, f_;
	std::vector<int> begin_, pairs_; // of each particle: those with a larger index
};

System::System(int n)
    : side_(edge * spacing), height_(n * spacing), across_(static_cast<int>(side_ / (cutoff + skin))),
      up_(static_cast<int>(height_ / (cutoff + skin)))
{
	unsigned s = 99;
	auto random = [&s] {
		s = s * 1664525 + 1013904223;
		return (s >> 8) / 16777216.0 - 0.5;
	};
	Vec sum = {0, 0, 0};
	for (int i = 0; i < edge * edge * n; i++) {
		at_.push_back({(i % edge + 0.5 + 0.1 * random()) * spacing, (i / edge % edge + 0.5 + 0.1 * random()) * spacing,
		               (i / edge / edge + 0.5 + 0.1 * random()) * spacing});
		v_.push_back({random(), random(), random()});
		sum.x += v_[i].x;
		sum.y += v_[i].y;
		sum.z += v_[i].z;
	}
	for (auto &v : v_) {
		v.x -= sum.x / v_.size();
		v.y -= sum.y / v_.size();
		v.z -= sum.z / v_.size();
	}
	f_.resize(at_.size());
	begin_.resize(at_.size() + 1);
}

// neighbours lists the pairs that are closer than the cutoff and the skin.
void System::neighbours()
{
	int count = static_cast<int>(at_.size());
	std::vector<int> first(across_ * across_ * up_, -1), next(count);
	auto place = [this](int x, int y, int z) { return (z * across_ + y) * across_ + x; };
	for (int i = 0; i < count; i++) {
		int c = place(cell(at_[i].x, side_, across_), cell(at_[i].y, side_, across_), cell(at_[i].z, height_, up_));
		next[i] = first[c];
		first[c] = i;
	}
	double reach = (cutoff + skin) * (cutoff + skin);
	pairs_.clear();
	for (int i = 0; i < count; i++) {
		begin_[i] = static_cast<int>(pairs_.size());
		int cx = cell(at_[i].x, side_, across_), cy = cell(at_[i].y, side_, across_), cz = cell(at_[i].z, height_, up_);
		for (int d = 0; d < 27; d++) {
			int c = place((cx + d % 3 - 1 + across_) % across_, (cy + d / 3 % 3 - 1 + across_) % across_, (cz + d / 9 - 1 + up_) % up_);
			for (int j = first[c]; j >= 0; j = next[j]) {
				if (j <= i)
					continue;
				Vec r = between(at_[i], at_[j]);
				if (r.x * r.x + r.y * r.y + r.z * r.z < reach)
					pairs_.push_back(j);
			}
		}
	}
	begin_[count] = static_cast<int>(pairs_.size());
}

void System::forces()
{
	int count = static_cast<int>(at_.size());
	double shift = std::pow(cutoff, -12) - std::pow(cutoff, -6);
	potential_ = 0;
	for (auto &f : f_)
		f = {0, 0, 0};
	for (int i = 0; i < count; i++) {
		Vec here = at_[i], sum = {0, 0, 0};
		for (int k = begin_[i]; k < begin_[i + 1]; k++) {
			int j = pairs_[k];
			Vec r = between(here, at_[j]);
			double r2 = r.x * r.x + r.y * r.y + r.z * r.z;
			if (r2 >= cutoff * cutoff)
				continue;
			double i2 = 1 / r2, i6 = i2 * i2 * i2, s = 24 * i2 * i6 * (2 * i6 - 1);
			potential_ += 4 * (i6 * i6 - i6 - shift);
			sum.x += s * r.x;
			sum.y += s * r.y;
			sum.z += s * r.z;
			f_[j].x -= s * r.x;
			f_[j].y -= s * r.y;
			f_[j].z -= s * r.z;
		}
		f_[i].x += sum.x;
		f_[i].y += sum.y;
		f_[i].z += sum.z;
	}
}

void System::kick()
{
	for (size_t i = 0; i < v_.size(); i++) {
		v_[i].x += 0.5 * dt * f_[i].x;
		v_[i].y += 0.5 * dt * f_[i].y;
		v_[i].z += 0.5 * dt * f_[i].z;
	}
}

void System::drift()
{
	auto inside = [](double d, double box) { return d - box * std::floor(d / box); };
	for (size_t i = 0; i < at_.size(); i++) {
		at_[i].x = inside(at_[i].x + dt * v_[i].x, side_);
		at_[i].y = inside(at_[i].y + dt * v_[i].y, side_);
		at_[i].z = inside(at_[i].z + dt * v_[i].z, height_);
	}
}

double System::kinetic() const
{
	double sum = 0;
	for (const auto &v : v_)
		sum += 0.5 * (v.x * v.x + v.y * v.y + v.z * v.z);
	return sum;
}

Vec System::momentum() const
{
	Vec sum = {0, 0, 0};
	for (const auto &v : v_)
		sum = {sum.x + v.x, sum.y + v.y, sum.z + v.z};
	return sum;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? std::atoi(argv[1]) : 0;
	if (n < 6) {
		std::puts("usage: md N, at least 6");
		return 2;
	}
	System s(n);
	s.neighbours();
	s.forces();
	double before = s.kinetic() + s.potential(), kinetic = s.kinetic();
	for (int t = 1; t <= steps; t++) {
		s.kick();
		s.drift();
		if (t % rebuild == 0)
			s.neighbours();
		s.forces();
		s.kick();
	}
	Vec p = s.momentum();
	double drift = std::fabs(s.kinetic() + s.potential() - before) / kinetic;
	double momentum = std::hypot(p.x, std::hypot(p.y, p.z)) / (edge * edge * n);
	std::printf("md: n %d, energy drift %.1e, momentum %.1e\n", n, drift, momentum);
	return drift < 1e-3 && momentum < 1e-12 ? 0 : 1;
}
