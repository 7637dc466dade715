// growing.c is a few kernels whose data grow with the program's argument n, of
// kinds that reuse-distance models meet: compiled with -DPRODUCT a matrix product
// and a walk down columns, with -DSTENCIL sweeps over a mesh, with -DTABLE random
// look-ups in a hash table, with -DSKEWED random look-ups of which some elements, here and
// there, have far more than others, with -DSORT a merge sort, with -DSTREAMS sums over arrays
// that lie a MiB apart whatever n is, so that six elements of an index fall into one
// set of most caches, with -DCOPIES unrolled copies of data that begin
// anywhere in a line, with -DVECTORS a sparse matrix times vectors of n³ elements, with
// -DHOT look-ups at random places of a table of n numbers, at each of which ten counters, in a
// page of their own each, are counted. With -DLINEAR, a table or a sort is of n elements, not of 4·n². It needs no library.

enum { MOST = 300 * 300 };
#if defined LINEAR
#define ELEMENTS(n) (n)
#else
#define ELEMENTS(n) (4 * (n) * (n))
#endif
volatile double answer;

#if defined PRODUCT
static double A[MOST], B[MOST], C[MOST];
static void run(int n) {
  for (int i = 0; i < n * n; i++)
    A[i] = i & 15, B[i] = i & 7;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++)
        sum += A[i * n + k] * B[k * n + j];
      C[i * n + j] = sum;
    }
  double sum = 0;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      sum += C[i * n + j];
  answer = sum;
}
#elif defined HOT
enum { COUNTERS = 10, APART = 4096 / sizeof(long) };
static volatile long counter[COUNTERS][APART] __attribute__((aligned(4096)));
static long table[MOST];
static void run(int n) {
  unsigned x = 1;
  long sum = 0;
  for (int i = 0; i < n; i++)
    table[i] = i;
  for (int i = 0; i < 8 * n; i++) {
    x = x * 1664525u + 1013904223u;
    sum += table[(x >> 8) % (unsigned)n];
    for (int k = 0; k < COUNTERS; k++)
      counter[k][0]++;
  }
  answer = sum;
}
#elif defined STREAMS
enum { ARRAYS = 6, APART = 1 << 17 };
static double A[ARRAYS][APART];
static void run(int n) {
  for (int k = 0; k < ARRAYS; k++)
    for (int i = 0; i < n; i++)
      A[k][i] = i & 7;
  double sum = 0;
  for (int r = 0; r < 3; r++)
    for (int i = 0; i < n; i++)
      for (int k = 0; k < ARRAYS; k++)
        sum += A[k][i];
  answer = sum;
}
#elif defined COPIES
static double A[4 * MOST] __attribute__((aligned(64))), B[4 * MOST] __attribute__((aligned(64)));
static void copy(double *to, const double *from, int n) { // Duff's device
  switch (n % 8) {
  case 0: do { *to++ = *from++;
  case 7: *to++ = *from++;
  case 6: *to++ = *from++;
  case 5: *to++ = *from++;
  case 4: *to++ = *from++;
  case 3: *to++ = *from++;
  case 2: *to++ = *from++;
  case 1: *to++ = *from++;
    } while ((n -= 8) > 0);
  }
}
static void run(int n) {
  int first = n / 3 % 4 * 2; // as of what malloc gives
  for (int r = 0; r < 4; r++)
    copy(B + (first + 2) % 8, A + first, n * n);
  answer = B[n];
}
#elif defined STENCIL
static double A[MOST], B[MOST];
static void sweep(int n, double *to, const double *from) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      to[i * n + j] = 0.25 * (from[i * n + j - 1] + from[i * n + j + 1] + from[(i - 1) * n + j] + from[(i + 1) * n + j]);
}
static void run(int n) {
  for (int i = 0; i < n * n; i++)
    A[i] = i % n;
  for (int t = 0; t < 4; t++) {
    sweep(n, B, A);
    sweep(n, A, B);
  }
  answer = A[n + 1];
}
#elif defined VECTORS
/* A sparse matrix of 27 numbers a row, in rows one after the other, by vectors of which
   several lie in a page at small sizes. */
enum { WIDTH = 27, ROWS = 64000 };
static double values[ROWS * WIDTH];
static int columns[ROWS * WIDTH];
static double vectors[6 * ROWS];
static void multiply(int n, int rows, const double *x, double *y) {
  for (int r = 0; r < rows; r++) {
    double sum = 0;
    for (int k = 0; k < WIDTH; k++)
      sum += values[r * WIDTH + k] * x[columns[r * WIDTH + k]];
    y[r] = sum;
  }
}
static void run(int n) {
  int rows = n * n * n;
  double *x = vectors, *p = x + rows, *q = p + rows, *r = q + rows, *z = r + rows, *b = z + rows;
  for (int i = 0; i < rows; i++) {
    for (int k = 0; k < WIDTH; k++) {
      int c = i + (k / 9 - 1) * n * n + (k / 3 % 3 - 1) * n + k % 3 - 1;
      columns[i * WIDTH + k] = c < 0 || c >= rows ? i : c;
      values[i * WIDTH + k] = c == i ? 26 : -1;
    }
    b[i] = 1;
  }
  for (int it = 0; it < 3; it++) {
    multiply(n, rows, x, q);
    for (int i = 0; i < rows; i++)
      r[i] = b[i] - q[i];
    multiply(n, rows, r, z);
    for (int i = 0; i < rows; i++)
      p[i] = z[i] + p[i] / 2;
    for (int i = 0; i < rows; i++)
      x[i] += p[i] / 26;
  }
  answer = x[rows / 2];
}
#elif defined TABLE || defined SKEWED
static unsigned table[8 * MOST];
static unsigned long state = 88172645463325252ul;
static unsigned draw(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state >> 20;
}
#if defined SKEWED
static void run(int n) {
  unsigned lines = n * n, sum = 0; // of eight numbers
  for (int i = 0; i < 40 * n * n; i++) {
    unsigned long a = draw() % lines, b = draw() % lines, c = draw() % lines;
    unsigned long at = (a * b / lines * c / lines + 1) * 0x9e3779b97f4a7c15ul;
    at = (at ^ at >> 29) * 0xbf58476d1ce4e5b9ul;
    sum += table[(at >> 33) % lines * 8]++;
  }
  answer = sum;
}
#else
static void run(int n) {
  unsigned slots = 2 * ELEMENTS(n), found = 0;
  for (int i = 0; i < ELEMENTS(n); i++) {
    unsigned key = draw() % slots + 1, at = key * 2654435761u % slots;
    while (table[at] && table[at] != key)
      at = at + 1 == slots ? 0 : at + 1;
    found += table[at] == key;
    table[at] = key;
  }
  answer = found;
}
#endif
#else
static unsigned A[4 * MOST], B[4 * MOST];
static void sort(unsigned *a, unsigned *b, int n) {
  if (n < 2)
    return;
  int half = n / 2, i = 0, j = half;
  sort(a, b, half);
  sort(a + half, b, n - half);
  for (int k = 0; k < n; k++)
    b[k] = j == n || (i < half && a[i] <= a[j]) ? a[i++] : a[j++];
  for (int k = 0; k < n; k++)
    a[k] = b[k];
}
static void run(int n) {
  unsigned v = 12345;
  for (int i = 0; i < ELEMENTS(n); i++)
    A[i] = v = v * 1664525u + 1013904223u;
  sort(A, B, ELEMENTS(n));
  answer = A[0];
}
#endif

void begin(long *stack) {
  int n = 0;
  for (const char *digit = (const char *)stack[2]; *digit; digit++)
    n = 10 * n + *digit - '0';
  run(n);
  register long number __asm__("a7") = 93, status __asm__("a0") = 0;
  __asm__ volatile("ecall" : : "r"(number), "r"(status));
}

__asm__(".globl _start\n"
        "_start:\n"
        ".option push\n"
        ".option norelax\n"
        "la gp, __global_pointer$\n"
        ".option pop\n"
        "mv a0, sp\n"
        "andi sp, sp, -16\n"
        "call begin\n");
