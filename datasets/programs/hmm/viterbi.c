#include "hmm.h"

#include <stdlib.h>

static int most(int a, int b) { return a > b ? a : b; }

bool make_workspace(workspace *w, const model *m, int rows)
{
	w->rows = rows;
	for (int s = 0; s < STATES; s++) {
		w->all[s] = malloc(sizeof(int) * (m->states + 1) * (rows + 1));
		for (int r = 0; r < 2; r++)
			if (!(w->row[r][s] = malloc(sizeof(int) * (m->states + 1))))
				return false;
		if (!w->all[s])
			return false;
	}
	return true;
}

/* begin sets the row before the first letter: nothing is emitted, and a way may
 * enter at any match state (state 0 leads to all of them). */
static void begin(const model *m, int *const row[STATES])
{
	for (int k = 0; k <= m->states; k++)
		row[MATCH][k] = row[INSERT][k] = row[DELETE][k] = IMPOSSIBLE;
}

/* advance computes the row of a letter from that before it. A way begins in any
 * match state, with score 0 before it (local alignment), so that none is worse
 * than that. It returns the best score of a way that ends in this row. */
__attribute__((noinline)) static int advance(const model *m, int *const old[STATES], int *const new[STATES], int letter)
{
	const int *restrict om = old[MATCH], *restrict oi = old[INSERT], *restrict od = old[DELETE];
	int *restrict nm = new[MATCH], *restrict ni = new[INSERT], *restrict nd = new[DELETE];
	const int *emit = m->match + letter * (m->states + 1);
	const int *mm = m->step[MATCH][MATCH], *mi = m->step[MATCH][INSERT], *md = m->step[MATCH][DELETE];
	const int *im = m->step[INSERT][MATCH], *ii = m->step[INSERT][INSERT];
	const int *dm = m->step[DELETE][MATCH], *dd = m->step[DELETE][DELETE];
	int best = IMPOSSIBLE;

	nm[0] = ni[0] = nd[0] = IMPOSSIBLE;
	for (int k = 1; k <= m->states; k++) {
		int v = 0;
		v = most(v, om[k - 1] + mm[k - 1]);
		v = most(v, oi[k - 1] + im[k - 1]);
		v = most(v, od[k - 1] + dm[k - 1]);
		nm[k] = v + emit[k];
		ni[k] = most(IMPOSSIBLE, most(om[k] + mi[k], oi[k] + ii[k]) + m->insert);
		nd[k] = most(IMPOSSIBLE, most(nm[k - 1] + md[k - 1], nd[k - 1] + dd[k - 1]));
		best = most(best, nm[k]);
	}
	return best;
}

int viterbi(const model *m, workspace *w, const uint8_t *letters, int length)
{
	int best = IMPOSSIBLE;

	begin(m, w->row[0]);
	for (int i = 0; i < length; i++)
		best = most(best, advance(m, w->row[i % 2], w->row[1 - i % 2], letters[i]));
	return best;
}

/* traced keeps all rows, finds the best way's end, and walks it back; walked
 * becomes the sum of what its steps and letters score. A step that explains no
 * score ends the walk, with a score that then is wrong. */
int traced(const model *m, workspace *w, const uint8_t *letters, int length, int *walked)
{
	int width = m->states + 1, best = IMPOSSIBLE, i = 0, k = 0;
	enum state s = MATCH;
	int *rows[2][STATES];

	for (int t = 0; t < STATES; t++)
		rows[0][t] = w->all[t];
	begin(m, rows[0]);
	for (int r = 1; r <= length; r++) {
		for (int t = 0; t < STATES; t++)
			rows[r % 2][t] = w->all[t] + r * width;
		advance(m, rows[1 - r % 2], rows[r % 2], letters[r - 1]);
		for (int c = 1; c <= m->states; c++)
			if (rows[r % 2][MATCH][c] > best) {
				best = rows[r % 2][MATCH][c];
				i = r;
				k = c;
			}
	}
	*walked = 0;
	for (;;) {
		int here = w->all[s][i * width + k], from, next_i, next_k, t;
		int emitted = s == MATCH ? m->match[letters[i - 1] * width + k] : s == INSERT ? m->insert : 0;
		if (s == MATCH && here == emitted) {
			*walked += emitted;
			return best;
		}
		next_i = s == DELETE ? i : i - 1;
		next_k = s == INSERT ? k : k - 1;
		for (t = 0; t < STATES; t++) {
			from = w->all[t][next_i * width + next_k];
			if (from > IMPOSSIBLE && here == from + m->step[t][s][next_k] + emitted)
				break;
		}
		if (t == STATES || next_k < 1 || next_i < 1) {
			*walked = IMPOSSIBLE;
			return best;
		}
		*walked += m->step[t][s][next_k] + emitted;
		s = (enum state)t;
		i = next_i;
		k = next_k;
	}
}
