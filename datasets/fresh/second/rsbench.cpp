// Cross sections by multipoles, as in a Monte Carlo code for neutrons: at a random energy in
// a random material, the sections of each of its nuclides are sums over the poles of a
// window around the energy, widened by temperature through the Faddeeva function. Nuclides
// have about n poles, the argument, and there are n / 2 energies; all is in vectors, a
// nuclide's poles together.
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Complex = std::complex<double>;

constexpr int nuclides = 24, materials = 6, orders = 4, terms = 16;

struct Pole {
	Complex at, total, absorption, fission;
	int order;
};

struct Window {
	double total, absorption, fission; // of what poles farther away give
	int begin, end;
};

struct Nuclide {
	std::vector<Pole> poles;
	std::vector<Window> windows;
	double radius[orders], widening;
};

struct Part {
	int nuclide;
	double density;
};

struct Sections {
	double total = 0, absorption = 0, fission = 0;

	void add(const Sections &s, double times)
	{
		total += s.total * times;
		absorption += s.absorption * times;
		fission += s.fission * times;
	}
};

static double draw()
{
	static uint64_t seed = 2014;
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return static_cast<double>(seed >> 40) / (1 << 24);
}

static Complex draw_complex()
{
	double real = draw() - 0.5;
	return {real, draw() - 0.5};
}

// The Faddeeva function w(z), for z above the real axis: far out by two terms of a
// rational approximation (Abramowitz and Stegun, 7.1.29 and below), else by a polynomial
// (Weideman, 1994).
class Faddeeva {
public:
	Faddeeva() : scale_(std::sqrt(terms / std::sqrt(2.0)))
	{
		const int half = 2 * terms;
		for (int m = 0; m < terms; m++) {
			double sum = 0;
			for (int k = -half + 1; k < half; k++) {
				double angle = k * M_PI / half, t = scale_ * std::tan(angle / 2);
				sum += std::exp(-t * t) * (scale_ * scale_ + t * t) *
				       std::cos((m + 1) * angle);
			}
			factors_[m] = sum / (2 * half);
		}
	}

	Complex operator()(Complex z) const
	{
		Complex iz(-z.imag(), z.real());
		if (std::norm(z) > 36) {
			Complex square = z * z;
			return iz * (0.5124242 / (square - 0.2752551) +
			             0.05176536 / (square - 2.724745));
		}
		Complex below = 1.0 / (scale_ - iz), ratio = (scale_ + iz) * below, sum = 0;
		for (int m = terms - 1; m >= 0; m--)
			sum = sum * ratio + factors_[m];
		return below * (2.0 * sum * below + 1 / std::sqrt(M_PI));
	}

private:
	double scale_, factors_[terms];
};

// plain_faddeeva is w(z) as an integral, by steps.
static Complex plain_faddeeva(Complex z)
{
	const double step = 0.12;
	Complex sum = 0;
	for (int k = -50; k <= 50; k++)
		sum += std::exp(-k * step * k * step) / (z - k * step);
	return Complex(0, step / M_PI) * sum;
}

static Nuclide make_nuclide(int n)
{
	Nuclide u;
	int count = n * 3 / 4 + static_cast<int>(draw() * n / 2), windows = count / 4 + 1;
	u.widening = 10.0 * windows;
	for (double &r : u.radius)
		r = 0.5 + draw();
	for (int w = 0; w < windows; w++) {
		Window window = {draw(), draw() * 0.3, draw() * 0.1, 0, 0};
		window.begin = static_cast<int>(static_cast<int64_t>(count) * w / windows);
		window.end = static_cast<int>(static_cast<int64_t>(count) * (w + 1) / windows);
		for (int p = window.begin; p < window.end; p++) {
			Pole pole;
			double along = w + draw();
			pole.at = Complex(along, -0.06 - 0.3 * draw()) / static_cast<double>(windows);
			pole.total = draw_complex();
			pole.absorption = draw_complex();
			pole.fission = draw_complex();
			pole.order = static_cast<int>(draw() * orders);
			u.poles.push_back(pole);
		}
		u.windows.push_back(window);
	}
	return u;
}

// make_material mixes two to sixteen nuclides; the first has most.
static std::vector<Part> make_material(int m)
{
	std::vector<Part> parts;
	int count = m == 0 ? 16 : 2 + m;
	for (int i = 0; i < count; i++)
		parts.push_back({(m * 5 + i * 7) % nuclides, 0.1 + draw()});
	return parts;
}

// phases returns e^(-2i phi) for the orders, with phi the hard sphere's phase shifts.
static void phases(const Nuclide &u, double root, Complex *factors)
{
	for (int l = 0; l < orders; l++) {
		double x = u.radius[l] * root, phi = x;
		if (l == 1)
			phi -= std::atan(x);
		else if (l == 2)
			phi -= std::atan(3 * x / (3 - x * x));
		else if (l == 3)
			phi -= std::atan(x * (15 - x * x) / (15 - 6 * x * x));
		factors[l] = Complex(std::cos(2 * phi), -std::sin(2 * phi));
	}
}

static const Window &window_at(const Nuclide &u, double root)
{
	return u.windows[static_cast<size_t>(root * u.windows.size())];
}

static Sections micro(const Nuclide &u, double energy, const Faddeeva &w)
{
	double root = std::sqrt(energy);
	const Window &window = window_at(u, root);
	Complex factors[orders];
	phases(u, root, factors);
	Sections s;
	s.total = energy * window.total;
	s.absorption = energy * window.absorption;
	s.fission = energy * window.fission;
	for (int p = window.begin; p < window.end; p++) {
		const Pole &pole = u.poles[p];
		Complex psi = w((root - pole.at) * u.widening);
		s.total += std::real(pole.total * psi * factors[pole.order]);
		s.absorption += std::real(pole.absorption * psi);
		s.fission += std::real(pole.fission * psi);
	}
	return s;
}

// plain is micro by the integral and by polynomials in x for the phases, last pole first.
static Sections plain(const Nuclide &u, double energy)
{
	double root = std::sqrt(energy);
	const Window &window = window_at(u, root);
	Sections s;
	for (int p = window.end - 1; p >= window.begin; p--) {
		const Pole &pole = u.poles[p];
		double x = u.radius[pole.order] * root;
		Complex turned[orders] = {1, {1, x}, {3 - x * x, 3 * x},
		                          {15 - 6 * x * x, x * (15 - x * x)}};
		Complex t = turned[pole.order];
		Complex psi = plain_faddeeva((root - pole.at) * u.widening);
		s.total += std::real(pole.total * psi * std::polar(1.0, -2 * x) * t / std::conj(t));
		s.absorption += std::real(pole.absorption * psi);
		s.fission += std::real(pole.fission * psi);
	}
	s.add({window.total, window.absorption, window.fission}, energy);
	return s;
}

static double difference(const Sections &a, const Sections &b)
{
	return std::fabs(a.total - b.total) + std::fabs(a.absorption - b.absorption) +
	       std::fabs(a.fission - b.fission);
}

// known_error compares w with the error function on the imaginary axis, and with the
// integral on an arc.
static double known_error(const Faddeeva &w)
{
	double sum = 0;
	for (double y = 0; y < 8; y += 0.5)
		sum += std::abs(w({0, y}) - std::exp(y * y) * std::erfc(y));
	for (double angle = 0.2; angle < 3; angle += 0.3) {
		Complex z = std::polar(4.5 + angle, angle);
		sum += std::abs(w(z) - plain_faddeeva(z));
	}
	return sum;
}

// check returns by how much a material's sections differ from those that are added up in
// the other order, and a nuclide's from plain ones.
static double check(const std::vector<Nuclide> &library, const std::vector<Part> &parts,
                    double energy, const Faddeeva &w, const Sections &macro)
{
	Sections other, one;
	for (size_t i = parts.size(); i-- > 0;) {
		one = micro(library[parts[i].nuclide], energy, w);
		other.add(one, parts[i].density);
	}
	return difference(macro, other) + difference(one, plain(library[parts[0].nuclide], energy));
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? std::atoi(argv[1]) : 0;
	if (n < 16 || n > 1000000) {
		std::puts("usage: rsbench N, from 16");
		return 2;
	}
	Faddeeva w;
	std::vector<Nuclide> library;
	std::vector<std::vector<Part>> mixtures;
	for (int i = 0; i < nuclides; i++)
		library.push_back(make_nuclide(n));
	for (int m = 0; m < materials; m++)
		mixtures.push_back(make_material(m));

	Sections all;
	double error = known_error(w);
	for (int i = 0; i < n / 2; i++) {
		double energy = draw(), pick = draw();
		const auto &parts = mixtures[pick < 0.4 ? 0 : static_cast<int>(pick * materials)];
		Sections macro;
		for (const Part &part : parts)
			macro.add(micro(library[part.nuclide], energy, w), part.density);
		all.add(macro, 2.0 / n);
		if (i % (n / 8) == 0)
			error += check(library, parts, energy, w, macro);
	}
	std::printf("rsbench: n %d, mean sections %.6f %.6f %.6f, error %.1e\n", n, all.total,
	            all.absorption, all.fission, error);
	return error < 3e-6 && all.total > all.absorption ? 0 : 1;
}
