// Numbers of several points at once: a thread works on N points, so that an entry of a matrix,
// loaded once, serves N times.
#pragma once

#include "device.h"

namespace prssm {

template <class S, int N>
struct alignas(N * sizeof(S)) Wide {
  S v[N];
};

// f(j) for each of the N places.
template <class S, int N, class F>
__device__ Wide<S, N> each(F f) {
  Wide<S, N> result;
#pragma unroll
  for (int j = 0; j < N; ++j) result.v[j] = f(j);
  return result;
}

template <class S, int N>
__device__ Wide<S, N> all(S x) {
  return each<S, N>([&](int) { return x; });
}
template <class S, int N>
__device__ Wide<S, N> operator+(const Wide<S, N>& x, const Wide<S, N>& y) {
  return each<S, N>([&](int j) { return x.v[j] + y.v[j]; });
}
template <class S, int N>
__device__ Wide<S, N> operator-(const Wide<S, N>& x, const Wide<S, N>& y) {
  return each<S, N>([&](int j) { return x.v[j] - y.v[j]; });
}
template <class S, int N>
__device__ Wide<S, N> operator*(const Wide<S, N>& x, const Wide<S, N>& y) {
  return each<S, N>([&](int j) { return x.v[j] * y.v[j]; });
}
template <class S, int N>
__device__ Wide<S, N> operator*(S x, const Wide<S, N>& y) {
  return each<S, N>([&](int j) { return x * y.v[j]; });
}
template <class S, int N>
__device__ Wide<S, N> operator/(const Wide<S, N>& x, const Wide<S, N>& y) {
  return each<S, N>([&](int j) { return x.v[j] / y.v[j]; });
}
template <class S, int N>
__device__ void operator+=(Wide<S, N>& x, const Wide<S, N>& y) {
  x = x + y;
}

template <class S, int N>
__device__ Wide<S, N> root(const Wide<S, N>& x) {
  return each<S, N>([&](int j) { return sqrt(x.v[j]); });
}

// exp(x), at most 1; a NaN stays a NaN.
template <class S, int N>
__device__ Wide<S, N> at_most_one_exp(const Wide<S, N>& x) {
  return each<S, N>([&](int j) { return x.v[j] > S(0) ? S(1) : exp(x.v[j]); });
}

template <class S, int N>
__device__ Wide<S, N> at_least_zero(const Wide<S, N>& x) {
  return each<S, N>([&](int j) { return x.v[j] < S(0) ? S(0) : x.v[j]; });
}

template <class S, int N>
__device__ Wide<S, N> where_positive(const Wide<S, N>& test, const Wide<S, N>& x) {
  return each<S, N>([&](int j) { return test.v[j] > S(0) ? x.v[j] : S(0); });
}

// The value of the thread whose place in its group differs in bit `apart`; all threads of the group
// hand over theirs.
template <int kGroup, class S, int N>
__device__ Wide<S, N> swapped(const Wide<S, N>& x, int apart) {
  return each<S, N>([&](int j) { return swapped<kGroup>(x.v[j], apart); });
}

// Steps and trajectories of a thread's points.
template <int N>
struct Points {
  int t[N], b[N];
};

// Row `row` of an array (T, rows, B) at these points.
template <class S, int N>
__device__ Wide<S, N> read(const S* array, const Points<N>& at, int rows, int row, int batch) {
  return each<S, N>(
      [&](int j) { return array[(int64_t(at.t[j]) * rows + row) * batch + at.b[j]]; });
}
template <class S, int N>
__device__ void write(S* array, const Points<N>& at, int rows, int row, int batch,
                      const Wide<S, N>& x) {
#pragma unroll
  for (int j = 0; j < N; ++j) array[(int64_t(at.t[j]) * rows + row) * batch + at.b[j]] = x.v[j];
}

}  // namespace prssm
