/* Dijkstra's shortest paths in a directed graph of n vertices, the argument, given by a
   matrix of weights: from each of ten vertices, the nearest that is not settled is searched
   for in all, and its row is relaxed. Seven of eight pairs have no edge. All is static. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1200, SOURCES = 10, NONE = INT_MAX };

static int weight[MOST * MOST]; /* row i, column j: the edge from i to j */
static int distance[MOST], before[MOST];
static char settled[MOST];
static unsigned seed = 3;

static unsigned draw(unsigned below)
{
	seed = seed * 1664525u + 1013904223u;
	return (unsigned)((unsigned long long)seed * below >> 32);
}

/* build makes a ring, so that all can be reached, and edges at random. */
static void build(int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			weight[i * n + j] = draw(8) ? NONE : 1 + (int)draw(900);
	for (int i = 0; i < n; i++)
		weight[i * n + (i + 1) % n] = 500;
}

/* nearest returns the vertex not settled that is nearest, or -1. */
static int nearest(int n)
{
	int found = -1, least = NONE;

	for (int i = 0; i < n; i++)
		if (!settled[i] && distance[i] < least) {
			least = distance[i];
			found = i;
		}
	return found;
}

static void relax(int n, int from)
{
	const int *row = weight + from * n;
	int base = distance[from];

	for (int j = 0; j < n; j++)
		if (row[j] != NONE && base + row[j] < distance[j]) {
			distance[j] = base + row[j];
			before[j] = from;
		}
}

static void shortest(int n, int source)
{
	int next;

	for (int i = 0; i < n; i++) {
		distance[i] = NONE;
		before[i] = -1;
		settled[i] = 0;
	}
	distance[source] = 0;
	while ((next = nearest(n)) >= 0) {
		settled[next] = 1;
		relax(n, next);
	}
}

/* walked counts vertices, one in seven, from where the way back to the source is not as
   long as the distance. */
static int walked(int n, int source)
{
	int wrong = 0;

	for (int i = n - 1; i >= 0; i -= 7) {
		int at = i, steps = 0;
		long length = 0;
		while (at != source && before[at] >= 0 && steps++ < n) {
			length += weight[before[at] * n + at];
			at = before[at];
		}
		wrong += at != source || length != distance[i];
	}
	return wrong;
}

/* shortened counts edges that would make a way shorter. */
static int shortened(int n)
{
	int wrong = 0;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			wrong += weight[i * n + j] != NONE &&
			         (long)distance[i] + weight[i * n + j] < distance[j];
	return wrong;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0, wrong = 0;
	long sum = 0;

	if (n < SOURCES || n > MOST) {
		puts("usage: dijkstra N, from 10 to 1200");
		return 2;
	}
	build(n);
	for (int s = 0; s < SOURCES; s++) {
		int source = n / SOURCES * s;
		shortest(n, source);
		wrong += walked(n, source);
		wrong += shortened(n);
		wrong += distance[source] != 0;
		for (int i = 0; i < n; i++) {
			sum += distance[i];
			wrong += !settled[i];
		}
	}
	printf("dijkstra: n %d, mean distance %.3f, wrong %d\n", n,
	       (double)sum / n / SOURCES, wrong);
	return wrong ? 1 : 0;
}
