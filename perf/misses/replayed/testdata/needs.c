// A kernel that is run only while the folder /data/stop does not exist: what else may
// keep a program from its work, such as a full disk, passes as well. There is no library.
__asm__(".globl _start\n_start:\n.option push\n.option norelax\nla gp, __global_pointer$\n.option pop\n"
	"ld a0, 0(sp)\naddi a1, sp, 8\ncall main\nli a7, 93\necall\n");

static long open_at(const char *path)
{
	register long folder __asm__("a0") = -100;
	register const char *name __asm__("a1") = path;
	register long flags __asm__("a2") = 0, mode __asm__("a3") = 0, call __asm__("a7") = 56;
	__asm__ volatile("ecall" : "+r"(folder) : "r"(name), "r"(flags), "r"(mode), "r"(call) : "memory");
	return folder;
}

static double pool[1 << 20];

__attribute__((noinline, noclone)) static void kernel(int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			pool[i * n + j] += pool[j * n + i];
}

int main(int argc, char **argv)
{
	int n = 0;
	if (open_at("/data/stop") >= 0)
		return 3;
	for (const char *s = argv[1]; *s; s++)
		n = 10 * n + *s - '0';
	for (int i = 0; i < 3; i++)
		kernel(n);
	return 0;
}
