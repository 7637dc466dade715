// The sieve of Eratosthenes up to n.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	long n = argc > 1 ? atol(argv[1]) : 1000, primes = 0;
	char *composite = calloc(n + 1, 1);
	for (long i = 2; i * i <= n; i++)
		if (!composite[i])
			for (long j = i * i; j <= n; j += i)
				composite[j] = 1;
	for (long i = 2; i <= n; i++)
		primes += !composite[i];
	printf("%ld %ld\n", n, primes);
	return 0;
}
