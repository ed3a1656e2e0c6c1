// Cholesky factors and their inverses, one block a matrix: one launch, which XLA can record into its graphs.
#pragma once

#include "arrays.h"

namespace prssm {

constexpr int kSquare = 16;  // threads of a block in each of two directions

constexpr int kLargest = 128;  // rows of a matrix, at most

// What the steps of elimination hand over: a column of the matrix and a row of the inverse, two of each, and the inverse roots of
// all pivots.
inline int64_t whiten_numbers(int64_t points) { return 5 * points; }

// Grid (matrices). Elimination turns [A, I] into [L, L^-1] but for the pivots' roots, by which rows and columns are multiplied
// at the end. A thread has every 16th row and column, kEach of each, in registers. A matrix that is not positive definite gives NaN
// everywhere.
template <class S, int kEach>
__global__ void __launch_bounds__(kSquare * kSquare)
whiten(int points, const S* matrices, S* factors, S* inverses) {
  const int P = points, x = threadIdx.x % kSquare, y = threadIdx.x / kSquare;
  const int64_t begin = int64_t(blockIdx.x) * P * P;
  S* const roots = shared_memory<S>();
  auto column_of = [&](int j) { return roots + (1 + j % 2) * P; };
  auto row_of = [&](int j) { return roots + (3 + j % 2) * P; };
  S a[kEach][kEach], w[kEach][kEach];
  auto each_entry = [&](auto use) {  // (row, column, a, w) of the lower triangle
#pragma unroll
    for (int m = 0; m < kEach; ++m) {
#pragma unroll
      for (int n = 0; n <= m; ++n) use(y + m * kSquare, x + n * kSquare, a[m][n], w[m][n]);
    }
  };
  auto hand_over = [&](int j) {
    each_entry([&](int i, int k, S& part, S& inverse) {
      if (k == j && i >= j && i < P) column_of(j)[i] = part;
      if (i == j && k <= j) row_of(j)[k] = inverse;
    });
    __syncthreads();
  };
  each_entry([&](int i, int k, S& part, S& inverse) {
    part = i < P && k < P ? matrices[begin + i * P + k] : S(0), inverse = i == k ? S(1) : S(0);
  });
  for (int j = 0; j < P; ++j) {
    hand_over(j);
    const S *column = column_of(j), *row = row_of(j), square = S(1) / column[j];
    if (threadIdx.x == 0) roots[j] = sqrt(square);  // of a negative pivot NaN
    each_entry([&](int i, int k, S& part, S& inverse) {
      if (i <= j || i >= P || k > i) return;
      const S factor = square * column[i];
      if (k > j) part -= factor * column[k];
      else inverse -= factor * row[k];
    });
  }
  __syncthreads();
  S broken = 0;  // or NaN
  for (int j = 0; j < P; ++j) broken += roots[j] - roots[j];
  for (int i = threadIdx.x; i < P * P; i += kSquare * kSquare) {
    if (i % P > i / P) factors[begin + i] = inverses[begin + i] = broken;
  }
  each_entry([&](int i, int k, S& part, S& inverse) {
    if (i >= P || k > i) return;
    factors[begin + i * P + k] = broken + roots[k] * part, inverses[begin + i * P + k] = broken + roots[i] * inverse;
  });
}

}  // namespace prssm
