/* Crashes three calls deep, at a line that the test names. */
#include <stdio.h>

static int poke(volatile int *p)
{
	*p = 1;
	return *p + 1;
}

static int middle(int n)
{
	return poke((volatile int *)(0x1000L + 0x230 * n)) + 1;
}

int main(int argc, char **argv)
{
	(void)argv;
	printf("%d\n", middle(argc - 1) + 1);
	return 0;
}
