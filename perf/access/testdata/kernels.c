/* Loops of many kinds, each in a routine of its own. */
#include <stdio.h>
#include <stdlib.h>

#define KERNEL __attribute__((noinline, noclone))

typedef struct { double x, y, z; int id; } particle;
typedef struct node { struct node *next; double v; } node;

int global_n;
double global[64][64];
double *global_pointer;

KERNEL void matmul(int n, double A[n][n], double B[n][n], double C[n][n]) {
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			for (int k = 0; k < n; k++)
				C[i][j] += A[i][k] * B[k][j];
}

KERNEL void stencil(double *a, double *b, int n) {
	for (int i = 1; i < n - 1; i++)
		for (int j = 1; j < n - 1; j++)
			for (int k = 1; k < n - 1; k++)
				b[(i * n + j) * n + k] = a[(i * n + j) * n + k - 1] + a[(i * n + j) * n + k + 1] +
					a[((i - 1) * n + j) * n + k] + a[((i + 1) * n + j) * n + k] +
					a[(i * n + j - 1) * n + k] + a[(i * n + j + 1) * n + k];
}

KERNEL void triad(double *a, double *b, double *c, long n) {
	for (long i = 0; i < n; i++)
		a[i] = b[i] + 3 * c[i];
}

KERNEL void transpose(double *a, double *b, int n) {
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			b[j * n + i] = a[i * n + j];
}

KERNEL void spmv(int n, int *row, int *column, double *v, double *x, double *y) {
	for (int i = 0; i < n; i++) {
		double s = 0;
		for (int k = row[i]; k < row[i + 1]; k++)
			s += v[k] * x[column[k]];
		y[i] = s;
	}
}

KERNEL double list(node *p) {
	double s = 0;
	for (; p; p = p->next)
		s += p->v;
	return s;
}

KERNEL void strided(double *a, int n, int step) {
	for (int i = 0; i < n; i += step)
		a[i] += 1;
	for (int i = n - 1; i >= 0; i -= 3)
		a[i] *= 2;
}

KERNEL void downward(double *a, double *b, int n) {
	for (int i = n; i > 0; i--)
		a[i - 1] = b[n - i];
}

KERNEL void triangle(double *a, int n) {
	for (int i = 0; i < n; i++)
		for (int j = 0; j <= i; j++)
			a[i * n + j] = i - j;
	for (int i = 0; i < n; i++)
		for (int j = i; j < n; j++)
			a[i * n + j] += 1;
}

KERNEL int count(char *s, char c) {
	int n = 0;
	while (*s) {
		if (*s == c)
			n++;
		s++;
	}
	return n;
}

/* A loop and one for what remains, on one line as a compiler makes them. */
#define UNROLL4(i, n, S) for (; i + 3 < n; i += 4) { S(i); S(i + 1); S(i + 2); S(i + 3); } for (; i < n; i++) S(i);
#define COPY(i) a[i] = b[i]

KERNEL void unrolled(double *a, double *b, int n) {
	int i = 0;
	UNROLL4(i, n, COPY)
}

/* A recurrence over two iterations, and a copy onto itself one element on. */
KERNEL void recurrence(double *a, double *b, int n) {
	for (int i = 2; i < n; i++)
		a[i] = a[i - 2] + b[i];
	for (int i = 0; i + 1 < n; i++)
		b[i] = b[i + 1];
}

KERNEL double switched(double *a, unsigned char *op, int n) {
	double s = 0;
	for (int i = 0; i < n; i++)
		switch (op[i]) {
		case 0: s += a[i]; break;
		case 1: s -= a[i]; break;
		case 2: s *= a[i]; break;
		case 3: a[i] = s; break;
		case 4: s = a[n - 1 - i]; break;
		case 5: s += 1; break;
		case 6: a[0] = s; break;
		default: s /= 2;
		}
	return s;
}

KERNEL int recursive(int *a, int lo, int hi) {
	if (hi - lo < 4) {
		int s = 0;
		for (int i = lo; i < hi; i++)
			s += a[i];
		return s;
	}
	int mid = (lo + hi) / 2, s = 0;
	for (int half = 0; half < 2; half++)
		s += recursive(a, half ? mid : lo, half ? hi : mid);
	return s;
}

KERNEL void structs(particle *p, int n) {
	for (int i = 0; i < n; i++) {
		p[i].x += p[i].y * p[i].z;
		p[i].id = i;
	}
}

KERNEL void compress(double *a, double *b, int n) {
	for (int i = 0; i < n; i++)
		if (a[i] > 2)
			*b++ = a[i];
}

KERNEL void globals(void) {
	for (int i = 0; i < global_n; i++)
		for (int j = 0; j < global_n; j++)
			global[i][j] += global_pointer[j * global_n + i];
}

KERNEL void bump(double *p, int n, int m) {
	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++)
			*p++ = i + j;
}

/* The same with the inner loop downward. */
KERNEL void bump_downward(double *p, int n, int m) {
	for (int i = 0; i < n; i++)
		for (int j = m; j >= 0; j--)
			*p++ = i + j;
}

/* Two paths with equal steps, taken by turns that the data decide. */
KERNEL double either(double *a, double *b, int *choice, int n) {
	double s = 0;
	for (int i = 0; i < n; i++) {
		double *p = b + i;
		if (choice[i] & 1)
			p = a + i;
		s += *p;
	}
	return s;
}

/* A step that grows. */
KERNEL void accelerate(double *a, int n) {
	int at = 0;
	for (int i = 0; at < n; i++) {
		a[at] += 1;
		at += i;
	}
}

KERNEL void bubble(int *a, int n) {
	for (int i = 0; i < n; i++)
		for (int j = 0; j + 1 < n - i; j++)
			if (a[j] > a[j + 1]) {
				int t = a[j];
				a[j] = a[j + 1];
				a[j + 1] = t;
			}
}

KERNEL void doubling(double *a, int n) {
	for (int s = 1; s < n; s *= 2)
		for (int i = 0; i + s < n; i += 2 * s)
			a[i] += a[i + s];
}

KERNEL void halves(double *a, double *b, int n) {
	for (int i = 0; i < n; i++)
		a[i >> 1] += b[i];
	for (int i = 0; i < n; i += 2)
		a[i / 2] += b[i];
}

KERNEL void swapping(double *a, double *b, int n) {
	for (int t = 0; t < 10; t++) {
		for (int i = 1; i < n - 1; i++)
			b[i] = .5 * (a[i - 1] + a[i + 1]);
		double *c = a;
		a = b;
		b = c;
	}
}

KERNEL double local(int n) {
	double w[32], s = 0;
	for (int i = 0; i < 32; i++)
		w[i] = i;
	for (int r = 0; r < n; r++)
		for (int i = 31; i >= 0; i--)
			s += w[i] * w[(i + r) & 31];
	return s;
}

KERNEL double grow(double x) { return x * 1.0001; }

KERNEL void calling(double *a, int n) {
	for (int i = 0; i < n; i++)
		a[i] = grow(a[i]);
}

/* A static variable that a routine called by another one changes. */
static int cursor;

KERNEL void jump(int n) { cursor = (cursor * 5 + 3) % n; }

KERNEL void advance(int n) {
	jump(n);
	global_n++;
	global_n--;
}

KERNEL double wander(double *a, int n) {
	double s = 0;
	for (int i = 0; i < n; i++) {
		advance(n);
		s += a[cursor];
	}
	return s;
}

KERNEL void blocked(double *A, double *B, double *C, int n, int size) {
	for (int ii = 0; ii < n; ii += size)
		for (int jj = 0; jj < n; jj += size)
			for (int kk = 0; kk < n; kk += size)
				for (int i = ii; i < ii + size && i < n; i++)
					for (int j = jj; j < jj + size && j < n; j++) {
						double s = C[i * n + j];
						for (int k = kk; k < kk + size && k < n; k++)
							s += A[i * n + k] * B[k * n + j];
						C[i * n + j] = s;
					}
}

KERNEL void rows(double **r, int n) {
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			r[i][j] += 1;
}

KERNEL void factor(double *a, int n) {
	for (int k = 0; k < n; k++)
		for (int i = k + 1; i < n; i++) {
			a[i * n + k] /= a[k * n + k];
			for (int j = k + 1; j < n; j++)
				a[i * n + j] -= a[i * n + k] * a[k * n + j];
		}
}

KERNEL void convolve(float *o, float *x, float *w, int c, int h, int k) {
	for (int q = 0; q < c; q++)
		for (int i = 0; i + k <= h; i++)
			for (int j = 0; j + k <= h; j++) {
				float s = 0;
				for (int u = 0; u < k; u++)
					for (int v = 0; v < k; v++)
						s += x[q * h * h + (i + u) * h + j + v] * w[q * k * k + u * k + v];
				o[(q * h + i) * h + j] = s;
			}
}

int main(void) {
	enum { n = 24 };
	double *a = calloc(n * n * n, 8), *b = calloc(n * n * n, 8), *c = calloc(n * n * n, 8);
	for (int i = 0; i < n * n * n; i++) {
		a[i] = i % 7 + 1;
		b[i] = 1.0 / (i + 1);
		c[i] = i;
	}
	global_n = n;
	global_pointer = b;
	matmul(n, (void *)a, (void *)b, (void *)c);
	stencil(a, b, n);
	triad(a, b, c, n * n * n);
	transpose(a, b, n);
	int *row = calloc(n + 1, 4), *column = calloc(n * n, 4), nonzero = 0;
	for (int i = 0; i < n; i++) {
		row[i] = nonzero;
		for (int j = 0; j < n; j += 1 + (i * 7 + j) % 3)
			column[nonzero++] = j;
	}
	row[n] = nonzero;
	spmv(n, row, column, a, b, c);
	node *head = 0;
	for (int i = 0; i < n * n; i++) {
		node *p = malloc(sizeof *p);
		p->next = head;
		p->v = i;
		head = p;
	}
	double s = list(head);
	strided(a, n * n, 3);
	strided(a, n * n, 7);
	downward(a, b, n * n);
	triangle(a, n);
	char *text = calloc(n * n + 1, 1);
	unsigned char *op = calloc(n * n, 1);
	int *ints = calloc(n * n, 4);
	for (int i = 0; i < n * n; i++) {
		text[i] = 'a' + i % 5;
		op[i] = i * i % 9;
		ints[i] = i * 7919 % 1000;
	}
	s += count(text, 'c');
	unrolled(a, b, n * n + 3);
	recurrence(b, a, n * n);
	s += switched(a, op, n * n);
	s += recursive(ints, 0, n * n);
	structs(calloc(n * n, sizeof(particle)), n * n);
	compress(a, b, n * n);
	globals();
	bump(a, n, n - 3);
	bump_downward(a, n, n - 3);
	s += either(a, b, ints, n * n);
	accelerate(a, n * n);
	bubble(ints, n * 4);
	doubling(a, n * n);
	halves(a, b, n * n);
	swapping(a, b, n * n);
	s += local(n);
	calling(a, n * n);
	s += wander(a, n * n);
	blocked(a, b, c, n, 8);
	double *r[n];
	for (int i = 0; i < n; i++) {
		r[i] = a + i * n;
		a[i * n + i] = 1e3;
	}
	rows(r, n);
	factor(a, n);
	convolve((float *)c, (float *)a, (float *)b, 3, n, 3);
	printf("%g %g %d\n", s, c[5], ints[0]);
	return 0;
}
