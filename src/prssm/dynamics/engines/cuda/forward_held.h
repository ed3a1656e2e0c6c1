// The recursion where there are many trajectories and few inducing points: a thread keeps whole
// vectors of its trajectories in registers, so that only the matrices are read. Every index of such
// a vector is known when it is compiled; T is the number of tiles.
#pragma once

#include "forward.h"

namespace prssm {

constexpr int kHeldTiles = 5;   // at most
constexpr int kHeldPoints = 2;  // of a thread: more would not fit

template <class S, int N, int T>
struct Held {
  Wide<S, N> at[4 * T];
  __device__ Wide<S, N>& operator[](int p) { return at[p]; }
  __device__ const Wide<S, N>& operator[](int p) const { return at[p]; }
};

// y += M x for a triangular matrix, in the order in which it lies in memory.
template <bool kUpper, class S, int N, int T>
__device__ void add_times(const Triangle<S>& matrix, const Held<S, N, T>& x, Held<S, N, T>& y) {
  const S* next = matrix.first;
#pragma unroll
  for (int quad = 0; quad < T; ++quad) {
#pragma unroll
    for (int row = kUpper ? 0 : 4 * quad; row < (kUpper ? 4 * quad + 4 : 4 * T); ++row, next += 4) {
      const Four<S> entries = four(next);
#pragma unroll
      for (int l = 0; l < 4; ++l) y[row] += entries.v[l] * x[4 * quad + l];
    }
  }
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
  for (int p = 0; p < 4 * T; ++p)
    k[p] = f.variance * at_most_one_exp(k[p] - norm - all<S, N>(f.zeta_norm[p]));
  return k;
}

template <class S, int N, int T>
__device__ Wide<S, N> sum_of_squares(const Held<S, N, T>& x) {
  Wide<S, N> sum = {};
#pragma unroll
  for (int p = 0; p < 4 * T; ++p) sum += x[p] * x[p];
  return sum;
}

__host__ __device__ inline int64_t forward_held_numbers(const Shape& s) {
  return int64_t(kWarp * kHeldPoints) * 2 * s.columns();
}

// Grid (blocks of 32 N trajectories, models). A warp takes one latent dimension after another.
template <class S, int N, int T>
__global__ void __launch_bounds__(kWarp* kForwardWarps)
    forward_held(Shape s, Given<S> given, Trajectories<S> everything) {
  const Trajectories<S> run = everything.of_model(s, blockIdx.y);
  const int warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp, lane = threadIdx.x % kWarp;
  const int first = blockIdx.x * N * kWarp + lane;
  auto column = [&](int rows) {
    return Column<S, N>{shared_memory<Wide<S, N>>() + rows * kWarp + lane, kWarp};
  };
  const Column<S, N> even = column(0), odd = column(s.columns());
  Points<N> now = trajectories_from<N>(first, kWarp, s, 0);
  for (int i = warp; i < s.columns(); i += warps) {
    even[i] = odd[i] = {};
    if (i < s.dx)
      write(run.states, now, s.dx, i, s.batch, even[i] = read(run.x1, now, s.dx, i, s.batch));
    else if (i < s.din())
      even[i] = read(run.u, now, s.du, i - s.dx, s.batch);
  }
  for (int t = 0; t + 1 < s.steps; ++t) {
    const Points<N> next = trajectories_from<N>(first, kWarp, s, t + 1);
    const Column<S, N> xu = t % 2 ? odd : even, following = t % 2 ? even : odd;
    __syncthreads();
    for (int i = warp; i < s.du; i += warps)
      following[s.dx + i] = read(run.u, next, s.du, i, s.batch);
    for (int d = warp; d < s.dx; d += warps) {
      const Dimension<S> f = given.dimension(s, blockIdx.y, d);
      const Wide<S, N> eps = read(run.eps, now, s.dx, d, s.batch);
      Held<S, N, T> a = {}, c = {};
      add_times<false>(f.white, held_covariances<T>(f, s, xu), a);
      if (s.spread) add_times<true>(f.spread, a, c);
      Wide<S, N> x = all<S, N>(f.bias) +
                     spread_of(f, sum_of_squares(a), sum_of_squares(c), eps).deviation * eps;
      for (int i = 0; i < s.din(); ++i) x += f.weight[i] * xu[i];
#pragma unroll
      for (int p = 0; p < 4 * T; ++p) x += mean_of(f, s, p, now) * a[p];
      following[d] = x;
      write(run.states, next, s.dx, d, s.batch, x);
    }
    now = next;
  }
}

}  // namespace prssm
