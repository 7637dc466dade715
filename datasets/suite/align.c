/* Global alignment of two sequences by dynamic programming, with the whole table and
   the way back. The length N is fixed at compile time; the table is static. */
#include <stdio.h>

#ifndef N
#define N 200
#endif

enum { MATCH = 3, MISMATCH = -2, GAP = -4 };

static char a[N], b[N];
static int score[N + 1][N + 1];

static int max(int x, int y) { return x > y ? x : y; }

static int pair(int i, int j) { return a[i] == b[j] ? MATCH : MISMATCH; }

static void fill(void)
{
	for (int i = 0; i <= N; i++)
		score[i][0] = score[0][i] = i * GAP;
	for (int i = 1; i <= N; i++)
		for (int j = 1; j <= N; j++)
			score[i][j] = max(score[i - 1][j - 1] + pair(i - 1, j - 1), max(score[i - 1][j], score[i][j - 1]) + GAP);
}

/* walk adds up the steps of the best alignment from its end. */
static int walk(void)
{
	int i = N, j = N, sum = 0;

	while (i > 0 || j > 0) {
		if (i > 0 && j > 0 && score[i][j] == score[i - 1][j - 1] + pair(i - 1, j - 1)) {
			sum += pair(--i, --j);
		} else if (i > 0 && score[i][j] == score[i - 1][j] + GAP) {
			i--;
			sum += GAP;
		} else if (j > 0 && score[i][j] == score[i][j - 1] + GAP) {
			j--;
			sum += GAP;
		} else {
			return 1 << 30; /* no step leads here */
		}
	}
	return sum;
}

int main(void)
{
	unsigned x = 7;

	for (int i = 0; i < N; i++) {
		x = x * 1103515245 + 12345;
		a[i] = "ACGT"[x >> 16 & 3];
		b[i] = (x >> 20) % 5 == 0 ? "ACGT"[x >> 24 & 3] : a[i > 2 ? i - 2 : i];
	}
	fill();
	int by = walk();
	printf("align: n %d, score %d, walked back %d\n", N, score[N][N], by);
	/* Two letters left out at either end are a way, too. */
	int shifted = 4 * GAP;
	for (int i = 2; i < N; i++)
		shifted += pair(i - 2, i);
	return by == score[N][N] && score[N][N] >= shifted ? 0 : 1;
}
