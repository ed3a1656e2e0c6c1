// Cholesky factors and their inverses, one block a matrix: with P steps this waits much less than the general libraries do, and XLA
// can record it into its graphs.
#pragma once

#include "arrays.h"

namespace prssm {

constexpr int kSquare = 16;  // threads of a block in each of two directions

// A matrix and its inverse factor while they are made, and the inverse square roots of the pivots.
inline int64_t whiten_numbers(int points) { return int64_t(2 * points + 1) * points; }

// Grid (matrices). Elimination turns [A, I] into [L, L^-1] but for the pivots' roots, by which rows and columns are multiplied
// at the end. A matrix that is not positive definite gives NaN everywhere.
template <class S>
__global__ void __launch_bounds__(kSquare * kSquare)
whiten(int points, const S* matrices, S* factors, S* inverses) {
  const int P = points, x = threadIdx.x % kSquare, y = threadIdx.x / kSquare;
  const int64_t size = int64_t(P) * P;
  const S* const matrix = matrices + blockIdx.x * size;
  S *const factor = factors + blockIdx.x * size, *const inverse = inverses + blockIdx.x * size;
  S *const a = shared_memory<S>(), *const w = a + size, *const roots = w + size;
  for (int i = threadIdx.x; i < size; i += kSquare * kSquare) a[i] = matrix[i], w[i] = i % (P + 1) == 0 ? S(1) : S(0);
  __syncthreads();
  for (int j = 0; j < P; ++j) {
    const S root = S(1) / sqrt(a[j * P + j]);  // of a negative pivot, and all that follow, NaN
    if (threadIdx.x == 0) roots[j] = root;
    for (int i = j + 1 + y; i < P; i += kSquare) {
      const S part = root * (root * a[i * P + j]);
      for (int k = x; k <= i; k += kSquare) {
        if (k > j) a[i * P + k] -= part * a[k * P + j];
        else w[i * P + k] -= part * w[j * P + k];
      }
    }
    __syncthreads();
  }
  const S broken = roots[P - 1] - roots[P - 1];  // zero, or NaN
  for (int i = y; i < P; i += kSquare) {
    for (int k = x; k < P; k += kSquare) {
      factor[i * P + k] = broken + (k <= i ? roots[k] * a[i * P + k] : S(0));
      inverse[i * P + k] = broken + (k <= i ? roots[i] * w[i * P + k] : S(0));
    }
  }
}

}  // namespace prssm
