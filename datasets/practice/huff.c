/* n symbols with skewed counts: a heap of trees, code lengths by walking up, then 2n symbols drawn
 * and their bits counted */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static long *w;
static int *heap, size;
static void down(int i) {
    int x = heap[i];
    for (;;) {
        int k = 2 * i + 1;
        if (k >= size)
            break;
        if (k + 1 < size && w[heap[k + 1]] < w[heap[k]])
            k++;
        if (w[heap[k]] >= w[x])
            break;
        heap[i] = heap[k];
        i = k;
    }
    heap[i] = x;
}
static int pop(void) {
    int t = heap[0];
    heap[0] = heap[--size];
    down(0);
    return t;
}
static void push(int x) {
    int i = size++;
    while (i > 0 && w[heap[(i - 1) / 2]] > w[x]) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = x;
}
int main(int c, char **v) {
    int n = atoi(v[1]);
    w = malloc(2l * n * sizeof *w);
    heap = malloc(2l * n * sizeof *heap);
    int *up = malloc(2l * n * sizeof *up), *len = malloc(n * sizeof *len);
    uint64_t s = 1234567;
    for (int i = 0; i < n; i++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        w[i] = 1 + (s >> 20) % 1000 * ((s >> 40) % 1000) / 100;
        heap[i] = i;
    }
    size = n;
    for (int i = n / 2; i >= 0; i--)
        down(i);
    int k = n;
    while (size > 1) {
        int a = pop(), b = pop();
        w[k] = w[a] + w[b];
        up[a] = up[b] = k;
        push(k++);
    }
    up[k - 1] = -1;
    for (int i = 0; i < n; i++) {
        int l = 0;
        for (int j = i; up[j] >= 0; j = up[j])
            l++;
        len[i] = l;
    }
    long bits = 0;
    for (int i = 0; i < 2 * n; i++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        bits += len[(s >> 16) % n];
    }
    printf("%ld\n", bits);
}
