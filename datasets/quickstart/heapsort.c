/* heapsort: sorts n random keys of 8 bytes by a binary heap. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void sift(uint64_t *key, long at, long n)
{
	uint64_t moving = key[at];
	for (long child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && key[child + 1] > key[child])
			child++;
		if (key[child] <= moving)
			break;
		key[at] = key[child];
	}
	key[at] = moving;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000;
	uint64_t *key = malloc(n * sizeof *key), state = 88172645463325252u;
	for (long i = 0; i < n; i++) {
		state ^= state << 13, state ^= state >> 7, state ^= state << 17;
		key[i] = state;
	}
	for (long i = n / 2; i-- > 0;)
		sift(key, i, n);
	for (long last = n - 1; last > 0; last--) {
		uint64_t largest = key[0];
		key[0] = key[last];
		key[last] = largest;
		sift(key, 0, last);
	}
	for (long i = 1; i < n; i++)
		if (key[i - 1] > key[i])
			return 1;
	printf("n %ld, median %llu\n", n, (unsigned long long)key[n / 2]);
	return 0;
}
