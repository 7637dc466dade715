// sorted.cpp makes vectors of n numbers, n being the program's argument: the C++
// library clears them, a loop fills one from the other, and the library sorts it.
#include <algorithm>
#include <cstdlib>
#include <vector>

int main(int, char **args) {
  long n = std::atol(args[1]);
  double sum = 0;
  for (int again = 0; again < 3; again++) {
    std::vector<double> a(n), b(n);
    for (long i = 0; i < n; i++)
      a[i] = (i * 7919 + again) % n + b[i];
    std::sort(a.begin(), a.end());
    for (long i = 0; i < n; i++)
      sum += a[i] * i;
  }
  return sum < 0;
}
