// Two loops in parallel, with a reduction, and one that is handed out in pieces.
#include <omp.h>
#include <stdio.h>

static double a[1 << 17], b[1 << 17];

int main(void) {
	double sum = 0;
	int used = 0;
#pragma omp parallel for num_threads(3)
	for (int i = 0; i < 1 << 17; i++)
		a[i] = i % 13;
	for (int k = 0; k < 10; k++) {
#pragma omp parallel for num_threads(3) schedule(dynamic, 1000)
		for (int i = 1; i < (1 << 17) - 1; i++)
			b[i] = a[i - 1] + a[i + 1];
	}
#pragma omp parallel num_threads(3) reduction(+ : used)
	used += omp_get_num_threads() == 3;
#pragma omp parallel for num_threads(3) reduction(+ : sum)
	for (int i = 0; i < 1 << 17; i++)
		sum += b[i];
	printf("%.0f %d\n", sum, used);
	return 0;
}
