// Long sums that do not wait for each addition.
#pragma once

#include <cstdint>

namespace prssm {

// a' b, in eight sums at a time.
template <class S>
double product(const S* a, const S* b, int64_t count) {
  S sum[8] = {};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int r = 0; r < 8; ++r) sum[r] += a[i + r] * b[i + r];
  }
  for (; i < count; ++i) sum[0] += a[i] * b[i];
  double total = 0.0;
  for (const S part : sum) total += static_cast<double>(part);
  return total;
}

}  // namespace prssm
