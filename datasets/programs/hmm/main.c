#include "hmm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *inputs[] = {"random", "family", "mixed"};

/* number reads an integer from least to most; it returns false otherwise. */
static bool number(const char *text, int least, int most, int *value)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (end == text || *end || v < least || v > most)
		return false;
	*value = (int)v;
	return true;
}

enum { CHECKED = 2 }; /* sequences whose way is walked */

/* scan scores all sequences; it returns false after it has printed what is
 * wrong. sums and counts are those of random sequences and of members. */
static bool scan(const model *m, workspace *w, uint8_t *letters, int count, int length, enum input input, uint64_t *random,
		 long sums[2], int counts[2])
{
	for (int i = 0; i < count; i++) {
		bool member = input == FAMILY || (input == MIXED && i % 2);
		int n = make_sequence(m, member ? FAMILY : RANDOM, letters, length / 2 + (int)below(random, length), random);
		int score = viterbi(m, w, letters, n);
		sums[member] += score;
		counts[member]++;
		if (i < CHECKED) {
			int walked, again = traced(m, w, letters, n, &walked);
			if (walked != score || again != score) {
				printf("verification: FAILED: sequence %d scores %d, by all rows %d, walked %d\n", i, score, again, walked);
				return false;
			}
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	int states = 120, count = 40, length = 150, input = MIXED, counts[2] = {0, 0};
	long sums[2] = {0, 0};
	bool quiet = false, good = true;
	uint64_t random = 0x9e3779b97f4a7c15ull;
	uint8_t *letters;
	workspace w;
	model m;

	for (int i = 1; i < argc && good; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";
		if (strcmp(argv[i], "-quiet") == 0) {
			quiet = true;
			continue;
		}
		if (strcmp(argv[i], "-states") == 0)
			good = number(value, 2, 100000, &states);
		else if (strcmp(argv[i], "-count") == 0)
			good = number(value, 1, 1000000, &count);
		else if (strcmp(argv[i], "-length") == 0)
			good = number(value, 2, 100000, &length);
		else if (strcmp(argv[i], "-input") == 0) {
			for (input = 0; input < 3 && strcmp(value, inputs[input]); input++)
				;
			good = input < 3;
		} else
			good = false;
		i++;
	}
	if (!good) {
		fprintf(stderr, "usage: hmm [-states 2 to 100000] [-count 1 to 1000000] [-length 2 to 100000] [-input random|family|mixed] [-quiet]\n");
		return 2;
	}
	letters = malloc((size_t)length * 2);
	if (!letters || !make_model(&m, states, &random) || !make_workspace(&w, &m, length * 2)) {
		fprintf(stderr, "hmm: not enough memory\n");
		return 1;
	}
	if (!scan(&m, &w, letters, count, length, (enum input)input, &random, sums, counts))
		return 1;
	if (!quiet) {
		printf("hmm: states %d, sequences %d of length %d, input %s\n", states, count, length, inputs[input]);
		printf("random: %d, scores add up to %ld; family: %d, scores add up to %ld\n", counts[0], sums[0], counts[1], sums[1]);
	}
	if (counts[0] > 0 && counts[1] > 0 && sums[0] / counts[0] >= sums[1] / counts[1]) {
		printf("verification: FAILED: random sequences score as high as members of the family\n");
		return 1;
	}
	printf("verification: successful\n");
	return 0;
}
