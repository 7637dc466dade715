// words counted in std::unordered_map, then the most frequent looked up again in another order
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>
#include <vector>
int main(int c, char **a) {
    int n = atoi(a[1]);
    uint64_t s = 77;
    auto r = [&] {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        return s >> 12;
    };
    std::unordered_map<uint64_t, int> m;
    std::vector<uint64_t> seen;
    for (int i = 0; i < n; i++) {
        uint64_t k = r() % (3ul * n);
        k *= 0x9E3779B97F4A7C15ul;
        if (m[k]++ == 0)
            seen.push_back(k);
    }
    long t = 0;
    for (int i = 0; i < 2 * n; i++) {
        auto it = m.find(seen[r() % seen.size()]);
        t += it->second;
    }
    for (auto &p : m)
        t += p.second > 1;
    printf("%zu %ld\n", m.size(), t);
}
