// n points in the unit square sorted into cells by counting; for each, the nearest other within its
// cell and the eight around
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
int main(int c, char **a) {
    int n = atoi(a[1]), m = (int)std::sqrt(n / 3.0);
    if (m < 1)
        m = 1;
    uint64_t s = 99;
    auto r = [&] {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        return (s >> 11) * 0x1p-53;
    };
    std::vector<double> x(n), y(n), best(n, 9);
    std::vector<int> start(m * m + 1, 0), in(n), near(n, -1);
    for (int i = 0; i < n; i++) {
        x[i] = r();
        y[i] = r();
    }
    auto cell = [&](int i) { return (int)(x[i] * m) * m + (int)(y[i] * m); };
    for (int i = 0; i < n; i++)
        start[cell(i) + 1]++;
    for (int i = 0; i < m * m; i++)
        start[i + 1] += start[i];
    std::vector<int> at(start.begin(), start.end() - 1);
    for (int i = 0; i < n; i++)
        in[at[cell(i)]++] = i;
    for (int i = 0; i < n; i++) {
        int p = (int)(x[i] * m), q = (int)(y[i] * m);
        for (int u = p - 1; u <= p + 1; u++)
            for (int v = q - 1; v <= q + 1; v++) {
                if (u < 0 || v < 0 || u >= m || v >= m)
                    continue;
                for (int k = start[u * m + v]; k < start[u * m + v + 1]; k++) {
                    int j = in[k];
                    if (j == i)
                        continue;
                    double d = (x[i] - x[j]) * (x[i] - x[j]) + (y[i] - y[j]) * (y[i] - y[j]);
                    if (d < best[i]) {
                        best[i] = d;
                        near[i] = j;
                    }
                }
            }
    }
    double t = 0;
    int mutual = 0;
    for (int i = 0; i < n; i++) {
        t += best[i];
        if (near[i] >= 0 && near[near[i]] == i)
            mutual++;
    }
    printf("%g %d\n", t, mutual);
}
