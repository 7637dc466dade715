// start.c begins a program that is the routine kernel alone.
#ifdef __cplusplus
#define C extern "C"
#else
#define C
#endif

C void kernel(void);

C void begin(void) {
  kernel();
  register long number __asm__("a7") = 93, status __asm__("a0") = 0;
  __asm__ volatile("ecall" : : "r"(number), "r"(status));
}

__asm__(".globl _start\n"
        "_start:\n"
        ".option push\n"
        ".option norelax\n"
        "la gp, __global_pointer$\n"
        ".option pop\n"
        "andi sp, sp, -16\n"
        "call begin\n");
