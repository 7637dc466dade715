// turns.c is a sum over n rows of n columns, n being the program's argument, that
// another routine takes at each second multiple of eight: the same accesses, by
// other references.

double rows[96 * 96];
volatile double answer;

__attribute__((noinline)) static void down(int n) {
  double sum = 0;
  for (int i = 0; i < n * n; i++)
    sum += rows[i];
  answer = sum;
}

__attribute__((noinline)) static void up(int n) {
  double sum = 0;
  for (int i = n * n - 1; i >= 0; i--)
    sum += rows[i];
  answer = sum;
}

void begin(long *stack) {
  int n = 0;
  for (const char *digit = (const char *)stack[2]; *digit; digit++)
    n = 10 * n + *digit - '0';
  for (int again = 0; again < 5; again++) {
    if (n % 16)
      down(n);
    else
      up(n);
  }
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
