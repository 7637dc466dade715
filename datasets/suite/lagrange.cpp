// A Lagrangian hydrodynamics code in two dimensions on a staggered mesh of n x n
// quadrilaterals: positions and velocities at nodes, density, energy and pressure in
// zones, artificial viscosity, an outward blast from one corner between walls that
// reflect. The size is the argument; fields are std::vectors, and zones reach their
// nodes by a list, as on an unstructured mesh.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static const double gamma_ = 1.4;
static double dt = 0.002;
static const int steps = 10;

struct Mesh {
	explicit Mesh(int n);
	void forces();
	void move();
	void update();
	double energy() const;

	int n;
	std::vector<std::array<int, 4>> corners; // of zones, counterclockwise
	std::vector<double> x, y, vx, vy, fx, fy, nodeMass;
	std::vector<double> mass, volume, e, p, q;

private:
	double area(int z) const;
};

Mesh::Mesh(int n) : n(n)
{
	int nodes = (n + 1) * (n + 1), zones = n * n;
	for (auto *v : {&x, &y, &vx, &vy, &fx, &fy, &nodeMass})
		v->resize(nodes);
	for (auto *v : {&mass, &volume, &e, &p, &q})
		v->resize(zones);
	for (int j = 0; j <= n; j++)
		for (int i = 0; i <= n; i++) {
			x[j * (n + 1) + i] = static_cast<double>(i) / n;
			y[j * (n + 1) + i] = static_cast<double>(j) / n;
		}
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++) {
			int a = j * (n + 1) + i;
			corners.push_back({a, a + 1, a + n + 2, a + n + 1});
		}
	for (int z = 0; z < zones; z++) {
		volume[z] = area(z);
		mass[z] = volume[z];
		// The blast fills the same part of the square at any size.
		double r = std::hypot(z % n + 0.5, z / n + 0.5) / n;
		e[z] = r < 0.25 ? 2 : 0.1;
		p[z] = (gamma_ - 1) * e[z];
		for (int c : corners[z])
			nodeMass[c] += mass[z] / 4;
	}
}

double Mesh::area(int z) const
{
	const auto &c = corners[z];
	return 0.5 * ((x[c[2]] - x[c[0]]) * (y[c[3]] - y[c[1]]) - (x[c[3]] - x[c[1]]) * (y[c[2]] - y[c[0]]));
}

// forces adds up what the pressure and viscosity of its zones do to each node: minus
// the gradient of the area, of which each zone's work is the product with (p + q).
void Mesh::forces()
{
	std::fill(fx.begin(), fx.end(), 0.0);
	std::fill(fy.begin(), fy.end(), 0.0);
	for (size_t z = 0; z < corners.size(); z++) {
		const auto &c = corners[z];
		double s = 0.5 * (p[z] + q[z]);
		for (int k = 0; k < 4; k++) {
			int next = c[(k + 1) % 4], before = c[(k + 3) % 4];
			fx[c[k]] += s * (y[next] - y[before]);
			fy[c[k]] -= s * (x[next] - x[before]);
		}
	}
}

void Mesh::move()
{
	for (int j = 0; j <= n; j++)
		for (int i = 0; i <= n; i++) {
			int a = j * (n + 1) + i;
			vx[a] += dt * fx[a] / nodeMass[a];
			vy[a] += dt * fy[a] / nodeMass[a];
			if (i == 0 || i == n)
				vx[a] = 0;
			if (j == 0 || j == n)
				vy[a] = 0;
			x[a] += dt * vx[a];
			y[a] += dt * vy[a];
		}
}

void Mesh::update()
{
	for (size_t z = 0; z < corners.size(); z++) {
		double v = area(static_cast<int>(z)), dv = v - volume[z];
		e[z] -= (p[z] + q[z]) * dv / mass[z];
		volume[z] = v;
		double density = mass[z] / v, rate = dv / (dt * v);
		p[z] = (gamma_ - 1) * density * std::max(e[z], 0.0);
		q[z] = 0;
		if (rate < 0) {
			double width = std::sqrt(v), sound = std::sqrt(gamma_ * p[z] / density);
			q[z] = density * width * -rate * (2 * width * -rate + 0.5 * sound);
		}
	}
}

double Mesh::energy() const
{
	double sum = 0;
	for (size_t z = 0; z < e.size(); z++)
		sum += mass[z] * e[z];
	for (size_t a = 0; a < x.size(); a++)
		sum += 0.5 * nodeMass[a] * (vx[a] * vx[a] + vy[a] * vy[a]);
	return sum;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? std::atoi(argv[1]) : 0;
	if (n < 4) {
		std::puts("usage: lagrange N, at least 4");
		return 2;
	}
	dt = std::min(dt, 0.25 / n); // in which nothing crosses a zone
	Mesh m(n);
	double before = m.energy();
	for (int t = 0; t < steps; t++) {
		m.forces();
		m.move();
		m.update();
	}
	double drift = std::fabs(m.energy() / before - 1), volume = 0, skew = 0;
	for (double v : m.volume)
		volume += v;
	// The two axes are alike, the walls keep the volume, and of the energy only the
	// error of the time step is lost.
	for (int i = 0; i < n; i++)
		skew = std::max(skew, std::fabs(m.e[i] - m.e[i * n]));
	std::printf("lagrange: n %d, energy drift %.1e, volume %.15g, skew %.1e\n", n, drift, volume, skew);
	return drift < 0.01 && std::fabs(volume - 1) < 1e-10 && skew < 1e-10 ? 0 : 1;
}
