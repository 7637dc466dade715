// Sorting by a comparison function, and a binary tree.
#include <stdio.h>
#include <stdlib.h>

struct node { struct node *left, *right; int key; };

static int compare(const void *a, const void *b) {
	int x = *(const int *)a, y = *(const int *)b;
	return (x > y) - (x < y);
}

static struct node *insert(struct node *t, int key) {
	if (!t) {
		t = calloc(1, sizeof *t);
		t->key = key;
	} else if (key < t->key) {
		t->left = insert(t->left, key);
	} else {
		t->right = insert(t->right, key);
	}
	return t;
}

int main(int argc, char **argv) {
	int n = atoi(argv[argc - 1]), *a = malloc(4L * n);
	unsigned r = 1, h = 0;
	struct node *t = 0;
	for (int i = 0; i < n; i++) {
		r = r * 1664525 + 1013904223;
		a[i] = r >> 8;
	}
	for (int i = 0; i < n / 8; i++)
		t = insert(t, a[i]);
	qsort(a, n, sizeof *a, compare);
	for (int i = 0; i < n; i++)
		h = h * 31 + a[i];
	printf("%u %d\n", h, t->key);
}
