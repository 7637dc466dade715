/* Sorts by merging halves: each time the range is halved, so are the distances of reuses. */
#include <stdlib.h>
#include <string.h>

struct record {
	unsigned key;
	double values[2];
};

__attribute__((noinline)) static void sort(struct record *a, struct record *room, int n)
{
	if (n < 2)
		return;
	int half = n / 2;
	sort(a, room, half);
	sort(a + half, room, n - half);
	memcpy(room, a, sizeof *a * half);
	int i = 0, j = half, k = 0;
	while (i < half && j < n)
		a[k++] = room[i].key <= a[j].key ? room[i++] : a[j++];
	while (i < half)
		a[k++] = room[i++];
}

int main(int argc, char **argv)
{
	int n = atoi(argv[1]);
	struct record *a = malloc(sizeof *a * n), *room = malloc(sizeof *a * n);
	unsigned seed = 1;
	for (int i = 0; i < n; i++)
		a[i].key = seed = seed * 1664525u + 1013904223u;
	sort(a, room, n);
	for (int i = 1; i < n; i++)
		if (a[i - 1].key > a[i].key)
			return 1;
	return 0;
}
