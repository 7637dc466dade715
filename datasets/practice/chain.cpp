// word counts in a table with chains that is grown when full; keys by a skewed draw
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
struct Node {
    uint64_t key;
    uint32_t count;
    Node *next;
};
struct Table {
    std::vector<Node *> b;
    size_t n = 0;
    Table() : b(64, nullptr) {
    }
    static uint64_t mix(uint64_t x) {
        x ^= x >> 33;
        x *= 0xff51afd7ed558ccdull;
        x ^= x >> 33;
        return x;
    }
    void grow() {
        std::vector<Node *> nb(b.size() * 2, nullptr);
        for (Node *p : b)
            while (p) {
                Node *q = p->next;
                size_t h = mix(p->key) & (nb.size() - 1);
                p->next = nb[h];
                nb[h] = p;
                p = q;
            }
        b.swap(nb);
    }
    void add(uint64_t k) {
        size_t h = mix(k) & (b.size() - 1);
        for (Node *p = b[h]; p; p = p->next)
            if (p->key == k) {
                p->count++;
                return;
            }
        if (n >= b.size()) {
            grow();
            h = mix(k) & (b.size() - 1);
        }
        b[h] = new Node{k, 1, b[h]};
        n++;
    }
    uint32_t get(uint64_t k) {
        for (Node *p = b[mix(k) & (b.size() - 1)]; p; p = p->next)
            if (p->key == k)
                return p->count;
        return 0;
    }
};
int main(int c, char **v) {
    int n = atoi(v[1]);
    uint64_t s = 12345;
    auto r = [&] {
        s = s * 6364136223846793005ull + 1442695040888963407ull;
        return s >> 33;
    };
    Table t;
    for (int i = 0; i < 3 * n; i++)
        t.add(r() % n * 2654435761u);
    uint64_t sum = 0;
    for (int i = 0; i < 2 * n; i++)
        sum += t.get((r() % (2 * n)) * 2654435761u);
    printf("%zu %lu\n", t.n, (unsigned long)sum);
}
