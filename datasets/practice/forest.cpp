// percolation on an n x n grid: bonds opened in random order, sets joined by rank with path halving
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>
int main(int c, char **v) {
    int n = atoi(v[1]);
    uint64_t s = 99991;
    auto r = [&] {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        return s >> 16;
    };
    int N = n * n;
    std::vector<int> p(N + 2), rk(N + 2, 0), order;
    std::iota(p.begin(), p.end(), 0);
    std::vector<char> open(N, 0);
    order.resize(N);
    std::iota(order.begin(), order.end(), 0);
    for (int i = N - 1; i > 0; i--)
        std::swap(order[i], order[r() % (i + 1)]);
    auto find = [&](int x) {
        while (p[x] != x) {
            p[x] = p[p[x]];
            x = p[x];
        }
        return x;
    };
    auto join = [&](int a, int b) {
        a = find(a);
        b = find(b);
        if (a == b)
            return;
        if (rk[a] < rk[b])
            std::swap(a, b);
        p[b] = a;
        if (rk[a] == rk[b])
            rk[a]++;
    };
    int k = 0;
    for (; k < N; k++) {
        int x = order[k], i = x / n, j = x % n;
        open[x] = 1;
        if (i == 0)
            join(x, N);
        if (i == n - 1)
            join(x, N + 1);
        if (i > 0 && open[x - n])
            join(x, x - n);
        if (i < n - 1 && open[x + n])
            join(x, x + n);
        if (j > 0 && open[x - 1])
            join(x, x - 1);
        if (j < n - 1 && open[x + 1])
            join(x, x + 1);
        if (find(N) == find(N + 1))
            break;
    }
    std::vector<int> size(N + 2, 0);
    for (int x = 0; x < N; x++)
        if (open[x])
            size[find(x)]++;
    printf("%f %d\n", (double)k / N, *std::max_element(size.begin(), size.end()));
}
