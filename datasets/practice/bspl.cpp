// particles in cells: 4 n n charges move through an n x n field, spread their charge on four nodes,
// 4 steps
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
struct P {
    float x, y, u, v;
};
int main(int c, char **a) {
    int n = atoi(a[1]), w = n + 1;
    uint64_t s = 5;
    auto r = [&] {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        return (float)((s >> 40) * 0x1p-24);
    };
    std::vector<P> p(4l * n * n);
    std::vector<float> f(w * w), e(w * w);
    for (auto &q : p)
        q = {r() * n * 0.999f, r() * n * 0.999f, r() - 0.5f, r() - 0.5f};
    for (int t = 0; t < 4; t++) {
        for (auto &x : f)
            x = 0;
        for (auto &q : p) {
            int i = (int)q.x, j = (int)q.y;
            float h = q.x - i, g = q.y - j;
            f[i * w + j] += (1 - h) * (1 - g);
            f[i * w + j + 1] += (1 - h) * g;
            f[(i + 1) * w + j] += h * (1 - g);
            f[(i + 1) * w + j + 1] += h * g;
        }
        for (int k = 0; k < 5; k++)
            for (int i = 1; i < n; i++)
                for (int j = 1; j < n; j++)
                    e[i * w + j] = 0.25f * (e[(i - 1) * w + j] + e[(i + 1) * w + j] +
                                            e[i * w + j - 1] + e[i * w + j + 1] + f[i * w + j] - 4);
        for (auto &q : p) {
            int i = (int)q.x, j = (int)q.y;
            q.u += 0.01f * (e[i * w + j] - e[(i + 1) * w + j]);
            q.v += 0.01f * (e[i * w + j] - e[i * w + j + 1]);
            q.x += q.u;
            q.y += q.v;
            while (q.x < 0)
                q.x += n * 0.999f;
            while (q.x >= n)
                q.x -= n * 0.999f;
            while (q.y < 0)
                q.y += n * 0.999f;
            while (q.y >= n)
                q.y -= n * 0.999f;
        }
    }
    double t = 0;
    for (auto &q : p)
        t += q.x * q.y;
    printf("%g\n", t);
}
