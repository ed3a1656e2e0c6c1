// The recursion where there are many trajectories and few inducing points.
#pragma once

#include "held.h"

namespace prssm {

__host__ __device__ inline int64_t forward_held_numbers(const Shape& s) {
  return int64_t(kWarp * kHeldPoints) * 2 * s.columns();
}

// Grid (blocks of 32 N trajectories, models). A warp takes one latent dimension after another.
template <class S, int N, int T>
__global__ void __launch_bounds__(kWarp * kForwardWarps)
forward_held(Shape s, Given<S> given, Trajectories<S> everything) {
  const Trajectories<S> run = everything.of_model(s, blockIdx.y);
  const int warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp, lane = threadIdx.x % kWarp;
  const int first = blockIdx.x * N * kWarp + lane;
  auto column = [&](int rows) { return Column<S, N>{shared_memory<Wide<S, N>>() + rows * kWarp + lane, kWarp}; };
  const Column<S, N> even = column(0), odd = column(s.columns());
  Points<N> now = trajectories_from<N>(first, kWarp, s, 0);
  for (int i = warp; i < s.columns(); i += warps) {
    even[i] = odd[i] = {};
    if (i < s.dx) write(run.states, now, s.dx, i, s.batch, even[i] = read(run.x1, now, s.dx, i, s.batch));
    else if (i < s.din()) even[i] = read(run.u, now, s.du, i - s.dx, s.batch);
  }
  for (int t = 0; t + 1 < s.steps; ++t) {
    const Points<N> next = trajectories_from<N>(first, kWarp, s, t + 1);
    const Column<S, N> xu = t % 2 ? odd : even, following = t % 2 ? even : odd;
    __syncthreads();
    for (int i = warp; i < s.du; i += warps) following[s.dx + i] = read(run.u, next, s.du, i, s.batch);
    for (int d = warp; d < s.dx; d += warps) {
      const Dimension<S> f = given.dimension(s, blockIdx.y, d);
      const Wide<S, N> eps = read(run.eps, now, s.dx, d, s.batch);
      Held<S, N, T> a, c;
      const Wide<S, N> deviation = held_predict(f, s, eps, held_covariances<T>(f, s, xu), a, c).deviation;
      Wide<S, N> x = all<S, N>(f.bias) + deviation * eps;
      for (int i = 0; i < s.din(); ++i) x += f.weight[i] * xu[i];
#pragma unroll
      for (int p = 0; p < 4 * T; ++p) x += mean_of(f, s, p, now) * a[p];
      following[d] = x, write(run.states, next, s.dx, d, s.batch, x);
    }
    now = next;
  }
}

}  // namespace prssm
