// Lagrangian hydrodynamics on an unstructured triangle mesh made from an n x n grid with shuffled
// nodes
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>
struct Cell {
    int v[3];
};
int main(int c, char **av) {
    int n = atoi(av[1]);
    int N = (n + 1) * (n + 1);
    std::vector<int> perm(N);
    std::iota(perm.begin(), perm.end(), 0);
    uint64_t s = 4242;
    auto r = [&] {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        return s >> 16;
    };
    int w = 64;
    for (int i = 0; i < N; i++) {
        int j = std::min<long>(N - 1, i + r() % w);
        std::swap(perm[i], perm[j]);
    }
    std::vector<double> x(N), y(N), u(N, 0), vv(N, 0), fx(N), fy(N), m(N, 0);
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= n; j++) {
            int p = perm[i * (n + 1) + j];
            x[p] = j / (double)n;
            y[p] = i / (double)n;
        }
    std::vector<Cell> cells;
    cells.reserve(2 * n * n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int a = perm[i * (n + 1) + j], b = perm[i * (n + 1) + j + 1],
                d = perm[(i + 1) * (n + 1) + j], e = perm[(i + 1) * (n + 1) + j + 1];
            cells.push_back({a, b, e});
            cells.push_back({a, e, d});
        }
    int M = cells.size();
    std::vector<double> rho(M, 1), e(M, 1), mass(M), vol(M);
    auto area = [&](const Cell &k) {
        return .5 * ((x[k.v[1]] - x[k.v[0]]) * (y[k.v[2]] - y[k.v[0]]) -
                     (x[k.v[2]] - x[k.v[0]]) * (y[k.v[1]] - y[k.v[0]]));
    };
    for (int i = 0; i < M; i++) {
        vol[i] = area(cells[i]);
        mass[i] = vol[i];
        e[i] = 1 + (i % 7 == 0);
        for (int q = 0; q < 3; q++)
            m[cells[i].v[q]] += mass[i] / 3;
    }
    double dt = 1e-4;
    for (int t = 0; t < 4; t++) {
        std::fill(fx.begin(), fx.end(), 0);
        std::fill(fy.begin(), fy.end(), 0);
        for (int i = 0; i < M; i++) {
            const Cell &k = cells[i];
            double p = .4 * rho[i] * e[i];
            for (int q = 0; q < 3; q++) {
                int a = k.v[(q + 1) % 3], b = k.v[(q + 2) % 3];
                fx[k.v[q]] += .5 * p * (y[a] - y[b]);
                fy[k.v[q]] -= .5 * p * (x[a] - x[b]);
            }
        }
        for (int i = 0; i < N; i++) {
            u[i] -= dt * fx[i] / m[i];
            vv[i] -= dt * fy[i] / m[i];
            x[i] += dt * u[i];
            y[i] += dt * vv[i];
        }
        for (int i = 0; i < M; i++) {
            double a = area(cells[i]);
            double p = .4 * rho[i] * e[i];
            e[i] -= p * (a - vol[i]) / mass[i];
            vol[i] = a;
            rho[i] = mass[i] / a;
        }
    }
    printf("%g %g\n", std::accumulate(e.begin(), e.end(), 0.), x[N / 2]);
}
