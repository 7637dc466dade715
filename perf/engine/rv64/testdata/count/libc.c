/* Exercises the C library with little dependence on the system: execution is
   compared with qemu from the entry of main to its return. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *left, *right;
    char name[16];
    double weight;
};

static struct node *insert(struct node *n, const char *name, double weight) {
    if (!n) {
        n = calloc(1, sizeof *n);
        strncpy(n->name, name, sizeof n->name - 1);
        n->weight = weight;
        return n;
    }
    int order = strcmp(name, n->name);
    if (order == 0)
        n->weight += weight;
    else if (order < 0)
        n->left = insert(n->left, name, weight);
    else
        n->right = insert(n->right, name, weight);
    return n;
}

static double total(const struct node *n) {
    if (!n)
        return 0;
    double below = total(n->left) + total(n->right);
    return isless(below, n->weight) ? below + floor(n->weight) : below + round(sqrt(n->weight));
}

static int by_value(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

int main(void) {
    static double values[200];
    static char text[4000], line[128];
    size_t used = 0;
    struct node *tree = NULL;
    for (int i = 0; i < 200; i++) {
        values[i] = sin(i) * exp(i % 10) + pow(1.5, i % 7) + (float)log1p(i) + rint(i * 0.37);
        snprintf(line, sizeof line, "%d:%.6g:%x;", i * 7919 % 100, values[i], (unsigned)i * 2654435761u);
        used += strlen(line);
        strcat(text, line);
        if (used > sizeof text - sizeof line)
            memmove(text, text + used / 2, used - used / 2 + 1), used = strlen(text);
    }
    qsort(values, 200, sizeof *values, by_value);
    char *rest = text;
    for (char *word = strtok(rest, ";"); word; word = strtok(NULL, ";")) {
        char *end;
        long key = strtol(word, &end, 10);
        double weight = *end ? strtod(end + 1, &end) : 0;
        snprintf(line, sizeof line, "k%ld", key);
        for (char *c = line; *c; c++)
            *c = (char)toupper((unsigned char)*c);
        tree = insert(tree, line, fabs(weight));
    }
    snprintf(line, sizeof line, "%.12g %.12g", total(tree), values[100]);
    return (line[0] + line[1] + line[2] + line[5]) % 100;
}
