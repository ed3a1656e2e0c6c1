// Points whose vectors stay in registers, where there are so few inducing points that they fit: no thread waits for another
// and only the matrices are read. Every index of such a vector is known when it is compiled; T is the number of its tiles.
#pragma once

#include "forward.h"

namespace prssm {

constexpr int kHeldTiles = 5;   // at most
constexpr int kHeldPoints = 2;  // of a thread: more would not fit
constexpr int kHeldWarps = 2;   // of a block

template <class S, int N, int T>
struct Held {
  Wide<S, N> at[4 * T];
  __device__ Wide<S, N>& operator[](int p) { return at[p]; }
  __device__ const Wide<S, N>& operator[](int p) const { return at[p]; }
};

// use(row, column, entries) for each four entries of a triangular matrix, as they lie in memory.
template <bool kUpper, int T, class S, class Use>
__device__ void for_entries(const Triangle<S>& matrix, Use use) {
  const S* next = matrix.first;
#pragma unroll
  for (int quad = 0; quad < T; ++quad) {
#pragma unroll
    for (int row = kUpper ? 0 : 4 * quad; row < (kUpper ? 4 * quad + 4 : 4 * T); ++row, next += 4) {
      use(row, 4 * quad, four(next));
    }
  }
}

// y += M x
template <bool kUpper, class S, int N, int T>
__device__ void add_times(const Triangle<S>& matrix, const Held<S, N, T>& x, Held<S, N, T>& y) {
  for_entries<kUpper, T>(matrix, [&](int row, int column, const Four<S>& entries) {
#pragma unroll
    for (int l = 0; l < 4; ++l) y[row] += entries.v[l] * x[column + l];
  });
}

// y += M' x
template <bool kUpper, class S, int N, int T>
__device__ void add_transposed_times(const Triangle<S>& matrix, const Held<S, N, T>& x, Held<S, N, T>& y) {
  for_entries<kUpper, T>(matrix, [&](int row, int column, const Four<S>& entries) {
#pragma unroll
    for (int l = 0; l < 4; ++l) y[column + l] += entries.v[l] * x[row];
  });
}

// k_p = k(zeta_p, xu), the square of the distance multiplied out.
template <int T, class S, int N>
__device__ Held<S, N, T> held_covariances(const Dimension<S>& f, const Shape& s, Column<S, N> xu) {
  Held<S, N, T> k = {};
  Wide<S, N> norm = {};
  for (int quad = 0; quad < s.quads(); ++quad) {
    const Four<S> scale = four(f.scale + 4 * quad);
    Wide<S, N> here[4];
#pragma unroll
    for (int l = 0; l < 4; ++l) {
      here[l] = xu[4 * quad + l];
      norm += S(0.5) * ((scale.v[l] * here[l]) * (scale.v[l] * here[l]));
    }
#pragma unroll
    for (int p = 0; p < 4 * T; ++p) {
      const Four<S> entries = four(f.zeta_scaled.first + 4 * (quad * 4 * T + p));
#pragma unroll
      for (int l = 0; l < 4; ++l) k[p] += entries.v[l] * here[l];
    }
  }
#pragma unroll
  for (int p = 0; p < 4 * T; ++p) k[p] = f.variance * at_most_one_exp(k[p] - norm - all<S, N>(f.zeta_norm[p]));
  return k;
}

template <class S, int N, int T>
__device__ Wide<S, N> sum_of_squares(const Held<S, N, T>& x) {
  Wide<S, N> sum = {};
#pragma unroll
  for (int p = 0; p < 4 * T; ++p) sum += x[p] * x[p];
  return sum;
}

// a = W k, c = V'a and what follows for the variance.
template <class S, int N, int T>
__device__ Spread<S, N> held_predict(const Dimension<S>& f, const Shape& s, const Wide<S, N>& eps, const Held<S, N, T>& k,
                                     Held<S, N, T>& a, Held<S, N, T>& c) {
  a = c = {};
  add_times<false>(f.white, k, a);
  if (s.spread) add_times<true>(f.spread, a, c);
  return spread_of(f, sum_of_squares(a), sum_of_squares(c), eps);
}

// The derivative of x_{t+1} by a, in the place of a; c is spent.
template <class S, int N, int T>
__device__ void held_pull_to_a(const Dimension<S>& f, const Shape& s, const Points<N>& at, const Spread<S, N>& by,
                               Held<S, N, T>& a, Held<S, N, T>& c) {
#pragma unroll
  for (int p = 0; p < 4 * T; ++p) {
    a[p] = mean_of(f, s, p, at) - S(2) * (by.by_unsaid * a[p]);
    c[p] = S(2) * (by.by_var * c[p]);
  }
  if (s.spread) add_transposed_times<true>(f.spread, c, a);
}

// The derivative by log k from that by a.
template <class S, int N, int T, class Covariance>
__device__ Held<S, N, T> held_pull_to_log_k(const Dimension<S>& f, const Held<S, N, T>& by_a, const Covariance& k) {
  Held<S, N, T> by_log_k = {};
  add_transposed_times<false>(f.white, by_a, by_log_k);
#pragma unroll
  for (int p = 0; p < 4 * T; ++p) by_log_k[p] = by_log_k[p] * k[p];
  return by_log_k;
}

template <class S, int N, int T>
__device__ Wide<S, N> sum_of(const Held<S, N, T>& x) {
  Wide<S, N> sum = {};
#pragma unroll
  for (int p = 0; p < 4 * T; ++p) sum += x[p];
  return sum;
}

}  // namespace prssm
