/* Breadth-first search of a graph with n vertices, each with edges to random ones and
   to its neighbour on a ring. The number of vertices is the argument; arrays are on
   the heap. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEGREE = 6 };

static int32_t *array(size_t n)
{
	int32_t *a = malloc(n * sizeof *a);

	if (!a) {
		puts("bfs: out of memory");
		exit(2);
	}
	return a;
}

/* search sets the level of each vertex, its distance from root in edges, or -1, and
   returns how many it found. */
static int search(int32_t n, const int32_t *edges, int32_t root, int32_t *level, int32_t *queue)
{
	int32_t head = 0, tail = 0;

	for (int32_t v = 0; v < n; v++)
		level[v] = -1;
	level[root] = 0;
	queue[tail++] = root;
	while (head < tail) {
		int32_t v = queue[head++];
		for (int e = 0; e < DEGREE; e++) {
			int32_t w = edges[(size_t)v * DEGREE + e];
			if (level[w] < 0) {
				level[w] = level[v] + 1;
				queue[tail++] = w;
			}
		}
	}
	return tail;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0, wrong = 0;

	if (n < 2) {
		puts("usage: bfs N, at least 2");
		return 2;
	}
	int32_t *edges = array((size_t)n * DEGREE), *level = array(n), *queue = array(n), *below = array(n);
	uint64_t x = 1;
	for (int v = 0; v < n; v++) {
		edges[(size_t)v * DEGREE] = (v + 1) % n; /* so that all are reached */
		for (int e = 1; e < DEGREE; e++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			edges[(size_t)v * DEGREE + e] = (int32_t)((x >> 33) % n);
		}
	}
	wrong += search(n, edges, 0, level, queue) != n;
	/* No edge leads down more than a level, and each vertex has one from above. */
	for (int v = 0; v < n; v++)
		below[v] = 0;
	for (int v = 0; v < n; v++)
		for (int e = 0; e < DEGREE; e++) {
			int w = edges[(size_t)v * DEGREE + e];
			wrong += level[w] > level[v] + 1;
			below[w] |= level[w] == level[v] + 1;
		}
	for (int v = 1; v < n; v++)
		wrong += !below[v];
	printf("bfs: n %d, levels %d, wrong %d\n", n, level[queue[n - 1]] + 1, wrong);
	free(edges);
	free(level);
	free(queue);
	free(below);
	return wrong != 0;
}
