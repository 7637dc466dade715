#include "hmm.h"

#include <stdlib.h>

/* below returns a random number below n (xorshift64*). */
uint32_t below(uint64_t *random, uint32_t n)
{
	*random ^= *random >> 12;
	*random ^= *random << 25;
	*random ^= *random >> 27;
	return (uint32_t)((*random * 0x2545f4914f6cdd1dull >> 33) * n >> 31);
}

/* make_model makes a random family: each match state prefers a letter, and
 * likes one in four of the others. */
bool make_model(model *m, int states, uint64_t *random)
{
	m->states = states;
	m->insert = -100;
	m->match = malloc(sizeof(int) * LETTERS * (states + 1));
	m->likely = malloc(states + 1);
	if (!m->match || !m->likely)
		return false;
	for (int from = 0; from < STATES; from++)
		for (int to = 0; to < STATES; to++)
			if (!(m->step[from][to] = malloc(sizeof(int) * (states + 1))))
				return false;
	for (int k = 0; k <= states; k++) {
		int gap = 5000 + (int)below(random, 4000);
		m->likely[k] = (uint8_t)below(random, LETTERS);
		for (int a = 0; a < LETTERS; a++)
			m->match[a * (states + 1) + k] = a == m->likely[k] ? 3200 : below(random, 4) ? -1700 : 300;
		m->step[MATCH][MATCH][k] = -40;
		m->step[MATCH][INSERT][k] = -gap;
		m->step[MATCH][DELETE][k] = -gap - 500;
		m->step[INSERT][MATCH][k] = -800;
		m->step[INSERT][INSERT][k] = -1200;
		m->step[INSERT][DELETE][k] = IMPOSSIBLE;
		m->step[DELETE][MATCH][k] = -900;
		m->step[DELETE][INSERT][k] = IMPOSSIBLE;
		m->step[DELETE][DELETE][k] = -1100;
	}
	return true;
}

/* make_sequence writes a sequence and returns its length: random letters, or
 * members of the family with some letters changed, lost and added, until there
 * are enough. */
int make_sequence(const model *m, enum input kind, uint8_t *letters, int length, uint64_t *random)
{
	int n = 0, k = 1;

	while (n < length) {
		uint32_t chance = below(random, 100);
		if (kind == RANDOM || chance < 15)
			letters[n++] = (uint8_t)below(random, LETTERS);
		else if (chance < 97)
			letters[n++] = m->likely[k];
		if (chance != 14) /* else a letter added */
			k = k == m->states ? 1 : k + 1;
	}
	return n;
}
