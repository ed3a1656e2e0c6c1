// The recursion where there are so many trajectories that each thread can take several: no thread
// waits for another's sums.
#pragma once

#include "forward.h"

namespace prssm {

__host__ __device__ inline int64_t forward_many_numbers(const Shape& s, int points, int warps) {
  return int64_t(kWarp * points) * (2 * s.padded() * warps + 2 * s.columns());
}

// Grid (blocks of 32 N trajectories, models). A warp takes one latent dimension after another.
template <class S, int N>
__global__ void __launch_bounds__(kWarp* kForwardWarps)
    forward_many(Shape s, Given<S> given, Trajectories<S> everything) {
  const Trajectories<S> run = everything.of_model(s, blockIdx.y);
  const int warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp, lane = threadIdx.x % kWarp;
  const int first = blockIdx.x * N * kWarp + lane;
  const Share alone{0, 1};
  auto column = [&](int rows) {
    return Column<S, N>{shared_memory<Wide<S, N>>() + rows * kWarp + lane, kWarp};
  };
  const Column<S, N> k = column(2 * warp * s.padded()), a = column((2 * warp + 1) * s.padded());
  const Column<S, N> even = column(2 * warps * s.padded()),
                     odd = column(2 * warps * s.padded() + s.columns());
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
      Wide<S, N> squares = {}, said = {}, mean = all<S, N>(f.bias);
      covariances(f, s, xu, alone, k);
      times(f.white, k, alone, [&](int p, const Wide<S, N>& x) {
        a[p] = x;
        squares += x * x;
        mean += mean_of(f, s, p, now) * x;
      });
      if (s.spread) times(f.spread, a, alone, [&](int, const Wide<S, N>& x) { said += x * x; });
      for (int i = 0; i < s.din(); ++i) mean += f.weight[i] * xu[i];
      const Wide<S, N> x = mean + spread_of(f, squares, said, eps).deviation * eps;
      following[d] = x;
      write(run.states, next, s.dx, d, s.batch, x);
    }
    now = next;
  }
}

}  // namespace prssm
