// open addressing with linear probing and tombstones, doubled at 3/4; inserts, erases, looks up
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
struct E {
    uint64_t k;
    int64_t v;
};
struct T {
    E *e;
    uint8_t *s;
    size_t cap, n, used;
    T() {
        cap = 16;
        e = (E *)malloc(cap * sizeof(E));
        s = (uint8_t *)calloc(cap, 1);
        n = used = 0;
    }
    static size_t h(uint64_t x) {
        x *= 0x9E3779B97F4A7C15ull;
        return x >> 20;
    }
    void grow() {
        E *oe = e;
        uint8_t *os = s;
        size_t oc = cap;
        cap *= 2;
        e = (E *)malloc(cap * sizeof(E));
        s = (uint8_t *)calloc(cap, 1);
        n = used = 0;
        for (size_t i = 0; i < oc; i++)
            if (os[i] == 1)
                put(oe[i].k, oe[i].v);
        free(oe);
        free(os);
    }
    void put(uint64_t k, int64_t v) {
        if (4 * (used + 1) > 3 * cap)
            grow();
        size_t i = h(k) & (cap - 1);
        while (s[i] == 1) {
            if (e[i].k == k) {
                e[i].v += v;
                return;
            }
            i = (i + 1) & (cap - 1);
        }
        if (!s[i])
            used++;
        s[i] = 1;
        e[i] = {k, v};
        n++;
    }
    bool erase(uint64_t k) {
        size_t i = h(k) & (cap - 1);
        while (s[i]) {
            if (s[i] == 1 && e[i].k == k) {
                s[i] = 2;
                n--;
                return true;
            }
            i = (i + 1) & (cap - 1);
        }
        return false;
    }
    int64_t get(uint64_t k) {
        size_t i = h(k) & (cap - 1);
        while (s[i]) {
            if (s[i] == 1 && e[i].k == k)
                return e[i].v;
            i = (i + 1) & (cap - 1);
        }
        return 0;
    }
};
int main(int c, char **a) {
    int n = atoi(a[1]);
    uint64_t s = 42;
    auto r = [&] {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        return s >> 8;
    };
    T t;
    for (int i = 0; i < n; i++)
        t.put(r() % (4ull * n), i);
    for (int i = 0; i < n / 2; i++)
        t.erase(r() % (4ull * n));
    long sum = 0;
    for (int i = 0; i < 2 * n; i++)
        sum += t.get(r() % (4ull * n));
    printf("%zu %ld\n", t.n, sum);
}
