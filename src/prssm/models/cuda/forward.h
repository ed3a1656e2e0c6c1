// The recursion: all trajectories walk through time in one launch.
#pragma once

#include "point.h"

namespace prssm {

constexpr int kWarp = 32;
constexpr int kForwardWarps = 16;  // of a block, at most

template <class S>
struct Trajectories {
  const S *x1, *u, *eps;  // (Dx, B), (T, Du, B), (T, Dx, B)
  S* states;              // (T, Dx, B)

  // Where the arrays of model m begin.
  __device__ Trajectories of_model(const Shape& s, int64_t m) const {
    const int64_t row = int64_t(s.steps) * s.batch;
    return {x1 + m * s.dx * s.batch, u + m * s.du * row, eps + m * s.dx * row, states + m * s.dx * row};
  }
};

// How many numbers a block keeps in shared memory.
__host__ __device__ inline int64_t forward_numbers(const Shape& s, int points, int warps, int lanes) {
  return int64_t(kWarp / lanes * points) * (2 * s.padded() * warps + 2 * s.columns());
}

// N trajectories from `first`; those beyond the batch repeat the last one.
template <int N>
__device__ Points<N> trajectories_from(int first, const Shape& s, int t) {
  Points<N> at;
#pragma unroll
  for (int j = 0; j < N; ++j) at.t[j] = t, at.b[j] = first + j < s.batch ? first + j : s.batch - 1;
  return at;
}

// Grid (blocks of trajectories, models). A warp takes one latent dimension after another; in it, `lanes` threads share the
// rows of N trajectories.
template <class S, int N>
__global__ void __launch_bounds__(kWarp * kForwardWarps, 1)
forward(Shape s, Given<S> given, Trajectories<S> everything, int lanes) {
  const Trajectories<S> run = everything.of_model(s, blockIdx.y);
  const int warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp, width = kWarp / lanes, mine = threadIdx.x % width;
  const Share share{int(threadIdx.x % kWarp) / width, lanes};
  Wide<S, N>* memory = shared_memory<Wide<S, N>>();
  const Column<S, N> k{memory + 2 * warp * s.padded() * width + mine, width}, a{k.base + s.padded() * width, width};
  const Column<S, N> even{memory + 2 * warps * s.padded() * width + mine, width};
  const Column<S, N> odd{even.base + s.columns() * width, width};
  Points<N> now = trajectories_from<N>((blockIdx.x * width + mine) * N, s, 0);
  for (int i = threadIdx.x / width; i < s.columns(); i += blockDim.x / width) {
    even[i] = odd[i] = {};
    if (i < s.dx) write(run.states, now, s.dx, i, s.batch, even[i] = read(run.x1, now, s.dx, i, s.batch));
    else if (i < s.din()) even[i] = read(run.u, now, s.du, i - s.dx, s.batch);
  }
  for (int t = 0; t + 1 < s.steps; ++t) {
    const Points<N> next = trajectories_from<N>((blockIdx.x * width + mine) * N, s, t + 1);
    const Column<S, N> xu = t % 2 ? odd : even, following = t % 2 ? even : odd;
    const int input = threadIdx.x / width;  // read ahead, as memory is far away
    const Wide<S, N> ahead = input < s.du ? read(run.u, next, s.du, input, s.batch) : Wide<S, N>{};
    __syncthreads();
    for (int d = warp; d < s.dx; d += warps) {
      const Dimension<S> f = given.dimension(s, blockIdx.y, d);
      const Wide<S, N> eps = read(run.eps, now, s.dx, d, s.batch);
      Wide<S, N> squares = {}, said = {}, mean = {};
      covariances(f, s, xu, share, k);
      __syncwarp();
      lower_times(f.white, s.tiles(), k, share, [&](int p, const Wide<S, N>& x) {
        a[p] = x, squares += x * x, mean += mean_of(f, s, p, now) * x;
      });
      __syncwarp();
      if (s.spread) transposed_times(f.spread, s.tiles(), a, share, [&](int, const Wide<S, N>& x) { said += x * x; });
      for (int i = share.lane; i < s.din(); i += lanes) mean += f.weight[i] * xu[i];
      for (int apart = width; apart < kWarp; apart *= 2) {
        squares += swapped<kWarp>(squares, apart), said += swapped<kWarp>(said, apart), mean += swapped<kWarp>(mean, apart);
      }
      const Wide<S, N> variance = at_least_zero(all<S, N>(f.variance) - squares) + said + all<S, N>(f.process_var);
      const Wide<S, N> x = mean + all<S, N>(f.bias) + root(variance) * eps;
      if (share.lane == 0) following[d] = x, write(run.states, next, s.dx, d, s.batch, x);
      __syncwarp();
    }
    if (input < s.du) following[s.dx + input] = ahead;
    for (int i = input + blockDim.x / width; i < s.du; i += blockDim.x / width) {
      following[s.dx + i] = read(run.u, next, s.du, i, s.batch);
    }
    now = next;
  }
}

}  // namespace prssm
