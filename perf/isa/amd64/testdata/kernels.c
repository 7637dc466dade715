/* Code of many kinds, for a decoder: vectors, masks, gathers, strings, x87,
   wide multiplications, tables of jumps. */
#include <complex.h>
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 512
double a[N][N], b[N][N], c[N][N];
float fa[N], fb[N];
int index_of[N];
_Atomic long counter;

void matmul(void) {
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			double s = 0;
			for (int k = 0; k < N; k++) s += a[i][k] * b[k][j];
			c[i][j] = s;
		}
}

void masked(void) {
	for (int i = 0; i < N; i++)
		if (fa[i] > 0.5f) fb[i] = fa[i] / (1 + fb[i]);
}

float gathered(void) {
	float s = 0;
	for (int i = 0; i < N; i++) s += fa[index_of[i]] * fb[i];
	return s;
}

void scattered(void) {
	for (int i = 0; i < N; i++) fb[index_of[i]] = fa[i];
}

void convert(const int8_t *p, uint16_t *q, int n) {
	for (int i = 0; i < n; i++) q[i] = (uint16_t)(p[i] * 3) >> 2;
}

long double extended(long double x) { return sqrtl(x) * x / 3 + sinl(x); }

uint64_t hash(const unsigned char *p, size_t n) {
	uint64_t h = 14695981039346656037u;
	for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 1099511628211u;
	return h ^ (uint64_t)(((unsigned __int128)h * h) >> 64) % (n + 1);
}

int choose(int x) {
	switch (x) {
	case 0: return 7;
	case 1: return puts("one");
	case 2: return abs(x) + 9;
	case 3: return rand();
	case 4: return 3 * x;
	case 5: return (int)strlen("five");
	case 6: atomic_fetch_add(&counter, x); return 1;
	case 7: return __builtin_popcount((unsigned)x) + __builtin_ctz((unsigned)x);
	}
	return -x;
}

struct node { struct node *next; long value; char name[40]; };

long walk(struct node *p) {
	long s = 0;
	for (; p; p = p->next) s += p->value;
	return s;
}

int main(int argc, char **argv) {
	for (int i = 0; i < N; i++) {
		fa[i] = (float)i / N;
		index_of[i] = (i * 37) % N;
		for (int j = 0; j < N; j++) a[i][j] = b[i][j] = i - j;
	}
	matmul();
	masked();
	scattered();
	struct node nodes[8];
	memset(nodes, 0, sizeof nodes);
	for (int i = 0; i < 7; i++) {
		nodes[i].next = &nodes[i + 1];
		nodes[i].value = choose(i);
		strcpy(nodes[i].name, argv[0]);
	}
	uint16_t q[64];
	convert((const int8_t *)nodes, q, 64);
	double complex z = cexp(1 + 2 * I) * fa[3];
	printf("%g %g %g %Lg %lx %ld %d\n", c[3][4], gathered(), creal(z), extended(argc), hash((unsigned char *)q, sizeof q), walk(nodes), choose(argc));
	return 0;
}
