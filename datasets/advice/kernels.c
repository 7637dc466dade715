// Kernels with a problem each, and, with -DMENDED, without it: what advice is held
// against. -DKERNEL chooses one; its size n is the program's argument -n.

enum { MOST = 1024 };
#define LINE __attribute__((aligned(4096)))
#define CALL __attribute__((noinline, noclone))
volatile double answer;

// together runs work(0, n) to work(THREADS - 1, n) in a thread each, and waits for them.
enum { THREADS = 4, STACK = 4096 };
typedef void work(long thread, long n);
static void together(work *work, long n);

#if KERNEL == 1 // columns of a matrix that is stored by rows: interchange
double a[MOST * MOST] LINE;
CALL double kernel(long n) {
  double s = 0;
#ifndef MENDED
  for (long j = 0; j < n; j++)
    for (long i = 0; i < n; i++)
      s += a[i * n + j];
#else
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      s += a[i * n + j];
#endif
  return s;
}

#elif KERNEL == 2 // a matrix product: tile
double a[MOST * MOST] LINE, b[MOST * MOST] LINE, c[MOST * MOST] LINE;
#define T 32
CALL double kernel(long n) {
#ifndef MENDED
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) {
      double s = 0;
      for (long k = 0; k < n; k++)
        s += a[i * n + k] * b[k * n + j];
      c[i * n + j] = s;
    }
#else
  for (long jj = 0; jj < n; jj += T)
    for (long kk = 0; kk < n; kk += T)
      for (long i = 0; i < n; i++)
        for (long j = jj; j < jj + T && j < n; j++) {
          double s = c[i * n + j];
          for (long k = kk; k < kk + T && k < n; k++)
            s += a[i * n + k] * b[k * n + j];
          c[i * n + j] = s;
        }
#endif
  return c[n];
}

#elif KERNEL == 3 // a transposition: tile
double a[MOST * MOST] LINE, b[MOST * MOST] LINE;
#define T 16
CALL double kernel(long n) {
#ifndef MENDED
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      b[i * n + j] = a[j * n + i];
#else
  for (long ii = 0; ii < n; ii += T)
    for (long jj = 0; jj < n; jj += T)
      for (long i = ii; i < ii + T && i < n; i++)
        for (long j = jj; j < jj + T && j < n; j++)
          b[i * n + j] = a[j * n + i];
#endif
  return b[n];
}

#elif KERNEL == 4 // two loops over the same arrays: fuse
double a[MOST * MOST] LINE, b[MOST * MOST] LINE, c[MOST * MOST] LINE, d[MOST * MOST] LINE;
CALL double kernel(long n) {
#ifndef MENDED
  for (long i = 0; i < n; i++)
    c[i] = a[i] + b[i];
  for (long i = 0; i < n; i++)
    d[i] = a[i] * c[i];
#else
  for (long i = 0; i < n; i++) {
    c[i] = a[i] + b[i];
    d[i] = a[i] * c[i];
  }
#endif
  return d[n / 2];
}

#elif KERNEL == 5 // steps over elements that do not depend on each other: tile the steps
double a[MOST * MOST] LINE;
enum { STEPS = 10, T = 512 };
CALL double kernel(long n) {
#ifndef MENDED
  for (long t = 0; t < STEPS; t++)
    for (long i = 0; i < n; i++)
      a[i] = 0.5 * a[i] + t;
#else
  for (long ii = 0; ii < n; ii += T)
    for (long t = 0; t < STEPS; t++)
      for (long i = ii; i < ii + T && i < n; i++)
        a[i] = 0.5 * a[i] + t;
#endif
  return a[n / 2];
}

#elif KERNEL == 6 // one field of records of eight: split
#ifndef MENDED
struct { double x, rest[7]; } a[MOST * 64] LINE;
#define X(i) a[i].x
#else
double x[MOST * 64] LINE;
double rest[MOST * 64][7] LINE;
#define X(i) x[i]
#endif
CALL double kernel(long n) {
  double s = 0;
  for (long i = 0; i < n; i++)
    s += X(i);
  return s;
}

#elif KERNEL == 7 // twelve arrays at the same place of each way: pad
enum { ARRAYS = 12, LONG = 16384 };
#ifndef MENDED
enum { PAD = 0 };
#else
enum { PAD = 40 };
#endif
struct { double v[LONG + PAD]; } x[ARRAYS] LINE;
CALL double kernel(long n) {
  double s = 0;
  for (long i = 0; i < n; i++)
    for (long k = 0; k < ARRAYS; k++)
      s += x[k].v[i];
  return s;
}

#elif KERNEL == 8 // planes of a cube, the outermost index in the innermost loop: interchange
double a[MOST * MOST] LINE;
CALL double kernel(long n) {
  double s = 0;
#ifndef MENDED
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      for (long k = 0; k < n; k++)
        s += a[(k * n + j) * n + i];
#else
  for (long k = 0; k < n; k++)
    for (long j = 0; j < n; j++)
      for (long i = 0; i < n; i++)
        s += a[(k * n + j) * n + i];
#endif
  return s;
}

#elif KERNEL == 9 // a table that is looked up at random: huge pages
unsigned table[1 << 20] LINE;
CALL double kernel(long n) {
  unsigned at = 12345, s = 0;
  for (long i = 0; i < n * 1000; i++) {
    at = at * 1664525 + 1013904223;
    s += table[at >> 12];
  }
  return s;
}

#elif KERNEL == 10 // each element once: nothing to gain
double a[MOST * MOST] LINE, b[MOST * MOST] LINE, c[MOST * MOST] LINE;
CALL double kernel(long n) {
  for (long i = 0; i < n; i++)
    c[i] = a[i] + 3 * b[i];
  return c[n / 2];
}

#elif KERNEL == 11 // Gauss-Seidel steps along a line: tile the steps, skewed
double a[MOST * MOST] LINE;
enum { STEPS = 8, T = 512 };
CALL double kernel(long n) {
#ifndef MENDED
  for (long t = 0; t < STEPS; t++)
    for (long i = 1; i < n - 1; i++)
      a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
#else
  for (long ii = 1; ii < n - 1 + STEPS; ii += T)
    for (long t = 0; t < STEPS; t++) {
      long from = ii - t < 1 ? 1 : ii - t, to = ii + T - t < n - 1 ? ii + T - t : n - 1;
      for (long i = from; i < to; i++)
        a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
    }
#endif
  return a[n / 2];
}

#elif KERNEL == 12 // a matrix times two vectors, from the left and the right: fuse
double a[MOST * MOST] LINE, p[MOST] LINE, q[MOST] LINE, r[MOST] LINE, s[MOST] LINE;
CALL double kernel(long n) {
#ifndef MENDED
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      q[i] += a[i * n + j] * p[j];
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      s[j] += a[i * n + j] * r[i];
#else
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) {
      q[i] += a[i * n + j] * p[j];
      s[j] += a[i * n + j] * r[i];
    }
#endif
  return q[n / 2] + s[n / 2];
}

#elif KERNEL == 13 // two fields of records of four, in steps: split
#ifndef MENDED
struct { double x, v, name, kind; } a[MOST * 64] LINE;
#define X(i) a[i].x
#define V(i) a[i].v
#else
struct { double x, v; } a[MOST * 64] LINE;
struct { double name, kind; } others[MOST * 64] LINE;
#define X(i) a[i].x
#define V(i) a[i].v
#endif
CALL double kernel(long n) {
  for (long t = 0; t < 3; t++)
    for (long i = 0; i < n; i++)
      X(i) += 0.1 * V(i);
  return X(n / 2);
}

#elif KERNEL == 14 || KERNEL == 20 // a matrix times eight vectors, one after the other: tile over the vectors
double a[MOST * MOST] LINE, x[8][MOST + 40] LINE, y[8][MOST + 40] LINE; // rows of vectors do not collide
enum { T = KERNEL == 14 ? 1 : 4 }; // rows that go through all vectors together
CALL double kernel(long n) {
#ifndef MENDED
  for (long v = 0; v < 8; v++)
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++)
        y[v][i] += a[i * n + j] * x[v][j];
#else
  for (long ii = 0; ii < n; ii += T)
    for (long v = 0; v < 8; v++)
      for (long i = ii; i < ii + T && i < n; i++)
        for (long j = 0; j < n; j++)
          y[v][i] += a[i * n + j] * x[v][j];
#endif
  return y[3][n / 2];
}

#elif KERNEL == 15 // a chain of elements in random order, once: nothing to gain
unsigned next[1 << 18] LINE;
CALL double kernel(long n) {
  unsigned at = 12345, s = 0;
  for (long i = 0; i < n * 100; i++) {
    at = at * 1664525 + 1013904223;
    s += next[at >> 14];
  }
  return s;
}

#elif KERNEL == 16 // threads that count in neighbouring words: pad
#ifndef MENDED
enum { APART = 1 };
#else
enum { APART = 8 };
#endif
volatile long count[THREADS * APART] LINE;
CALL void work1(long thread, long n) {
  for (long i = 0; i < n; i++)
    count[thread * APART]++;
}
CALL double kernel(long n) {
  together(work1, n);
  long sum = 0;
  for (long t = 0; t < THREADS; t++)
    sum += count[t * APART];
  return sum;
}

#elif KERNEL == 17 // threads with each fourth element: an array for each
#ifndef MENDED
double a[MOST * MOST] LINE;
#define A(t, i) a[(i) * THREADS + (t)]
#else
double a[THREADS][MOST * 64 + 40] LINE;
#define A(t, i) a[t][i]
#endif
CALL void work1(long thread, long n) {
  for (long again = 0; again < 4; again++)
    for (long i = 0; i < n; i++)
      A(thread, i) = 0.5 * A(thread, i) + thread;
}
CALL double kernel(long n) {
  together(work1, n);
  double sum = 0;
  for (long t = 0; t < THREADS; t++)
    sum += A(t, n / 2);
  return sum;
}

#elif KERNEL == 18 // what one thread writes beside what all read: apart
struct {
  volatile long step;
#ifdef MENDED
  long rest[7];
#endif
  volatile long progress;
} common LINE;
double x[THREADS][MOST * 64 + 40] LINE;
CALL void work1(long thread, long n) {
  for (long i = 0; i < n; i++) {
    x[thread][i] += common.step;
    if (thread == 0)
      common.progress = i;
  }
}
CALL double kernel(long n) {
  common.step = 3;
  together(work1, n);
  return x[1][n / 2] + common.progress;
}

#elif KERNEL == 19 // an array that is cleared, and then set: set it at first
double a[MOST * MOST] LINE, b[MOST * MOST] LINE;
CALL void *memset(void *to, int value, unsigned long bytes) {
  for (unsigned long i = 0; i < bytes / 8; i++)
    ((long *)to)[i] = value;
  return to;
}
CALL double kernel(long n) {
#ifndef MENDED
  memset(a, 0, n * sizeof *a);
  for (long i = 0; i < n; i++)
    a[i] += b[i];
#else
  for (long i = 0; i < n; i++)
    a[i] = b[i];
#endif
  return a[n / 2];
}
#else
#error "KERNEL: want 1 to 20"
#endif

#if KERNEL >= 16 && KERNEL <= 18
static char stacks[THREADS][STACK] LINE;
static volatile int running[THREADS];

// begin1 begins a thread that calls work(thread, n) on a stack and ends; the system sets
// *running to 0 then.
long begin1(long flags, char *stack, work *work, long thread, long n, volatile int *running);
__asm__(".globl begin1\n"
        "begin1:\n"
        "addi a1, a1, -32\n"
        "sd a2, 0(a1)\n"
        "sd a3, 8(a1)\n"
        "sd a4, 16(a1)\n"
        "mv a4, a5\n"
        "li a2, 0\n"
        "li a3, 0\n"
        "li a7, 220\n" // clone
        "ecall\n"
        "bnez a0, 1f\n"
        "ld a2, 0(sp)\n"
        "ld a0, 8(sp)\n"
        "ld a1, 16(sp)\n"
        "jalr a2\n"
        "li a0, 0\n"
        "li a7, 93\n" // exit
        "ecall\n"
        "1: ret\n");

static void together(work *work, long n) {
  enum { FLAGS = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000 | 0x200000 }; // a thread; CLEARTID
  for (long t = 0; t < THREADS; t++) {
    running[t] = 1;
    begin1(FLAGS, stacks[t] + STACK, work, t, n, &running[t]);
  }
  for (long t = 0; t < THREADS; t++)
    while (running[t]) {
      register long a0 __asm__("a0") = (long)&running[t], a1 __asm__("a1") = 0, a2 __asm__("a2") = 1, a3 __asm__("a3") = 0, a7 __asm__("a7") = 98;
      __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a7) : "memory"); // futex, wait
    }
}
#endif

static long number(const char *text) {
  long n = 0;
  while (*text)
    n = 10 * n + *text++ - '0';
  return n;
}

__attribute__((noreturn, used)) static void begin(long *stack) {
  answer = kernel(number((const char *)stack[3])); // program -n 64
  register long a0 __asm__("a0") = 0, a7 __asm__("a7") = 93;
  __asm__ volatile("ecall" : : "r"(a0), "r"(a7));
  for (;;)
    ;
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
