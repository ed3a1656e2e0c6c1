// The inverse Cholesky factors of covariance matrices of inducing inputs, and the way back, one
// block a matrix: a launch each, which XLA can record into its graphs. docs/adjoint.md has the
// mathematics.
#pragma once

#include "arrays.h"

namespace prssm {

constexpr int kSquare = 16;   // threads of a block in each of two directions
constexpr int kLargest = 96;  // rows of a matrix, at most

// Inducing inputs (P, Din) and kernel of one Gaussian process; the jitter is relative to the
// variance.
template <class R>
struct Inducing {
  const R *zeta, *log_lengthscale, *log_std;
  int points, din;
  R jitter;

  __device__ Inducing of(int64_t matrix) const {
    return {zeta + matrix * points * din,
            log_lengthscale + matrix * din,
            log_std + matrix,
            points,
            din,
            jitter};
  }
  __device__ R variance() const { return exp(R(2) * *log_std); }
  __device__ R precision(int i) const { return exp(-log_lengthscale[i]); }

  // Shared memory with all inputs divided by the length scales; wait before reading it.
  __device__ void scale(R* scaled) const {
    for (int at = threadIdx.x; at < points * din; at += blockDim.x)
      scaled[at] = zeta[at] * precision(at % din);
  }

  __device__ R correlation(const R* scaled, int p, int q) const {
    R squared = 0;
    for (int i = 0; i < din; ++i) {
      const R apart = scaled[p * din + i] - scaled[q * din + i];
      squared += apart * apart;
    }
    return exp(R(-0.5) * squared);
  }
};

// What the steps of elimination hand over: a column of the matrix and a row of the inverse, two of
// each, and the inverse roots of all pivots; and the scaled inputs.
inline int64_t whiten_numbers(int64_t points, int64_t din) { return (5 + din) * points; }

// Grid (matrices). Elimination turns [A, I] into [L, L^-1] but for the pivots' roots, by which the
// rows of the inverse are multiplied at the end. A thread has every 16th row and column, kEach of
// each, in registers. A matrix that is not positive definite gives NaN everywhere.
template <class R, int kEach>
__global__ void __launch_bounds__(kSquare* kSquare) whiten(Inducing<R> all, R* inverses) {
  const Inducing<R> gp = all.of(blockIdx.x);
  const int P = gp.points, x = threadIdx.x % kSquare, y = threadIdx.x / kSquare;
  const int64_t begin = int64_t(blockIdx.x) * P * P;
  R *const roots = shared_memory<R>(), *const scaled = roots + 5 * P;
  auto column_of = [&](int j) { return roots + (1 + j % 2) * P; };
  auto row_of = [&](int j) { return roots + (3 + j % 2) * P; };
  R a[kEach][kEach], w[kEach][kEach];
  auto each_entry = [&](auto use) {  // (row, column, a, w) of the lower triangle
#pragma unroll
    for (int m = 0; m < kEach; ++m) {
#pragma unroll
      for (int n = 0; n <= m; ++n) use(y + m * kSquare, x + n * kSquare, a[m][n], w[m][n]);
    }
  };
  auto hand_over = [&](int j) {
    each_entry([&](int i, int k, R& part, R& inverse) {
      if (k == j && i >= j && i < P) column_of(j)[i] = part;
      if (i == j && k <= j) row_of(j)[k] = inverse;
    });
    __syncthreads();
  };
  const R variance = gp.variance();
  gp.scale(scaled);
  __syncthreads();
  each_entry([&](int i, int k, R& part, R& inverse) {
    part = i < P && k <= i ? variance * (gp.correlation(scaled, i, k) + (i == k ? gp.jitter : R(0)))
                           : R(0);
    inverse = i == k ? R(1) : R(0);
  });
  for (int j = 0; j < P; ++j) {
    hand_over(j);
    const R *column = column_of(j), *row = row_of(j), square = R(1) / column[j];
    if (threadIdx.x == 0) roots[j] = sqrt(square);  // of a negative pivot NaN
    each_entry([&](int i, int k, R& part, R& inverse) {
      if (i <= j || i >= P || k > i) return;
      const R factor = square * column[i];
      if (k > j)
        part -= factor * column[k];
      else
        inverse -= factor * row[k];
    });
  }
  __syncthreads();
  R broken = 0;  // or NaN
  for (int j = 0; j < P; ++j) broken += roots[j] - roots[j];
  for (int i = threadIdx.x; i < P * P; i += kSquare * kSquare) {
    if (i % P > i / P) inverses[begin + i] = broken;
  }
  each_entry([&](int i, int k, R&, R& inverse) {
    if (i < P && k <= i) inverses[begin + i * P + k] = broken + roots[i] * inverse;
  });
}

// Gradients; shapes are those of the parameters.
template <class R>
struct InducingSlopes {
  R *zeta, *log_lengthscale, *log_std;
};

// Three matrices, the scaled inputs, and sums over the rows of a matrix.
inline int64_t unwhiten_numbers(int64_t points, int64_t din) {
  return 3 * points * points + (2 * din + 1) * points;
}

// Grid (matrices): the gradients of the parameters from g, that of W, whose lower triangle counts.
template <class R>
__global__ void __launch_bounds__(kSquare* kSquare)
    unwhiten(Inducing<R> all, const R* inverses, const R* g, InducingSlopes<R> slopes) {
  const Inducing<R> gp = all.of(blockIdx.x);
  const int P = gp.points, din = gp.din;
  const int64_t begin = int64_t(blockIdx.x) * P * P;
  R *const white = shared_memory<R>(), *const first = white + P * P, *const second = first + P * P;
  R *const scaled = second + P * P, *const sums = scaled + P * din;
  auto each = [&](int count, auto use) {
    for (int at = threadIdx.x; at < count; at += blockDim.x) use(at);
    __syncthreads();
  };
  // result_ij = sum of x_k y_k from `from` to `to`, which are steps apart.
  auto dot = [](const R* x, int x_step, const R* y, int y_step, int from, int to) {
    R sum = 0;
#pragma unroll 4
    for (int k = from; k < to; ++k) sum += x[k * x_step] * y[k * y_step];
    return sum;
  };
  gp.scale(scaled);
  each(P * P, [&](int at) {
    const bool lower = at % P <= at / P;
    white[at] = lower ? inverses[begin + at] : R(0);
    first[at] = lower ? g[begin + at] : R(0);
  });
  each(P * P, [&](int at) {  // -g W', lower triangle, half of the diagonal
    const int i = at / P, j = at % P;
    const R part = j > i ? R(0) : -dot(first + i * P, 1, white + j * P, 1, 0, j + 1);
    second[at] = i == j ? R(0.5) * part : part;
  });
  each(P * P, [&](int at) {  // W' times that
    const int i = at / P, j = at % P;
    first[at] = dot(white + i, P, second + j, P, i > j ? i : j, P);
  });
  each(P * P, [&](int at) {  // times W
    const int i = at / P, j = at % P;
    second[at] = dot(first + i * P, 1, white + j, P, j, P);
  });
  const R variance = gp.variance();
  each(P * P, [&](int at) {  // the gradient of the logarithm of each covariance
    const int p = at / P, q = at % P;
    first[at] = R(0.5) * (second[at] + second[q * P + p]) * variance * gp.correlation(scaled, p, q);
  });
  each(P * (din + 1), [&](int at) {
    const int p = at / (din + 1), i = at % (din + 1);
    R once = 0, squared = 0;
    for (int q = 0; q < P; ++q) {
      const R apart = i < din ? scaled[p * din + i] - scaled[q * din + i] : R(1);
      once += first[p * P + q] * apart;
      squared += first[p * P + q] * apart * apart;
    }
    if (i < din)
      slopes.zeta[(int64_t(blockIdx.x) * P + p) * din + i] = R(-2) * gp.precision(i) * once;
    sums[at] = i < din ? squared : squared + variance * gp.jitter * second[p * P + p];
  });
  each(din + 1, [&](int i) {
    R sum = 0;
    for (int p = 0; p < P; ++p) sum += sums[p * (din + 1) + i];
    if (i < din)
      slopes.log_lengthscale[int64_t(blockIdx.x) * din + i] = sum;
    else
      slopes.log_std[blockIdx.x] = R(2) * sum;
  });
}

}  // namespace prssm
