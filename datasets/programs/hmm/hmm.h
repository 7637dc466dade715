/* Hmm looks for members of a family of sequences by a profile hidden Markov
 * model: for each sequence, the score of the best way through the model's match,
 * insert and delete states (Viterbi's algorithm), as in Durbin, Eddy, Krogh and
 * Mitchison, Biological Sequence Analysis, section 5.4. It is our own writing,
 * made to be profiled: a recurrence of additions and maxima of integers over
 * three rows, and tables looked up.
 *
 *	viterbi     the score of a sequence, two rows kept
 *	traced      the same with all rows, and the way back through them
 *
 * The model has -states match states; there are -count sequences of around
 * -length letters out of 20. Inputs: random letters; family (emitted by the
 * model); mixed (every other). Scores are in thousandths of a bit.
 *
 * What is checked: the first sequences' ways, walked again, score what was found,
 * and no less than by either algorithm; members of the family score higher than
 * random sequences, on average. The last line of output is "verification:
 * successful", or "verification: FAILED" with the reason and exit status 1. */
#ifndef HMM_H
#define HMM_H

#include <stdbool.h>
#include <stdint.h>

enum { LETTERS = 20, IMPOSSIBLE = -100000000 };
enum input { RANDOM, FAMILY, MIXED };
enum state { MATCH, INSERT, DELETE, STATES };

typedef struct {
	int states;
	int *match;             /* [letter][state]: score of emitting it there */
	int *step[STATES][STATES]; /* by kinds from, to, and then the state left */
	int insert;             /* score of any letter in an insert state */
	uint8_t *likely;        /* the letter that each match state prefers */
} model;

typedef struct {
	int *row[2][STATES]; /* of viterbi */
	int *all[STATES];    /* of traced */
	int rows;            /* that those have room for, less one */
} workspace;

/* model.c */
uint32_t below(uint64_t *random, uint32_t n);
bool make_model(model *m, int states, uint64_t *random);
int make_sequence(const model *m, enum input kind, uint8_t *letters, int length, uint64_t *random);

/* viterbi.c */
bool make_workspace(workspace *w, const model *m, int rows);
int viterbi(const model *m, workspace *w, const uint8_t *letters, int length);
int traced(const model *m, workspace *w, const uint8_t *letters, int length, int *walked);

#endif
