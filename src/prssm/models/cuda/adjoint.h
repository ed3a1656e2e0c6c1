// The adjoint, with all steps side by side but for one small recursion:
//
//   linearise    derivatives of x_{t+1} by (x_t, u_t), for all points and latent dimensions at once
//   cotangents   g_t = h_t + J_t' g_{t+1}
//   gradients    sums over points, of which the gradients of all parameters are made
#pragma once

#include "forward.h"

namespace prssm {

__host__ __device__ inline int64_t linearise_numbers(const Shape& s, int points) {
  return int64_t(kWarp * points) * (3 * s.padded() + s.columns());
}

// xu = [x_t; u_t] at these points, then a one and zeros.
template <class S, int N>
__device__ void read_points(const Trajectories<S>& run, const Shape& s, const Points<N>& at, Column<S, N> xu) {
  for (int i = 0; i < s.dx; ++i) xu[i] = read<S, N>(run.states, at, s.dx, i, s.batch);
  for (int i = 0; i < s.du; ++i) xu[s.dx + i] = read(run.u, at, s.du, i, s.batch);
  for (int i = s.din(); i < s.columns(); ++i) xu[i] = all<S, N>(i == s.din() ? S(1) : S(0));
}

// Grid (blocks of points, Dx, models), one warp a block. `slope` (T-1, Dx, Din, B): of x_{t+1}'s GP part by xu'.
template <class S, int N>
__global__ void linearise(Shape s, Given<S> given, Trajectories<S> everything, S* slope, S* deviation) {
  const Trajectories<S> run = everything.of_model(s, blockIdx.z);
  const int d = blockIdx.y, later = s.steps - 1;
  Points<N> at;
#pragma unroll
  for (int j = 0; j < N; ++j) {
    const int wanted = (blockIdx.x * kWarp + threadIdx.x) * N + j, last = later * s.batch - 1;
    const int point = wanted < last ? wanted : last;
    at.t[j] = point / s.batch, at.b[j] = point % s.batch;
  }
  auto column = [&](int rows) { return Column<S, N>{shared_memory<Wide<S, N>>() + rows * kWarp + threadIdx.x, kWarp}; };
  const Column<S, N> k = column(0), a = column(s.padded()), c = column(2 * s.padded()), xu = column(3 * s.padded());
  read_points(run, s, at, xu);
  const Dimension<S> f = given.dimension(s, blockIdx.z, d);
  const Spread<S, N> by = predict(f, s, xu, read(run.eps, at, s.dx, d, s.batch), k, a, c);
  const int64_t model = int64_t(blockIdx.z) * later * s.dx * s.batch;
  write(deviation + model, at, s.dx, d, s.batch, by.deviation);
  pull_to_a(f, s, at, by, a, c, a);
  pull_to_log_k(f, s, k, a, c);
  Wide<S, N> total = {};
  for (int p = 0; p < s.padded(); ++p) total += c[p];
  for (int quad = 0; quad < s.quads(); ++quad) {
    Wide<S, N> sum[4] = {};
    add_columns(f.zeta, quad, c, 0, s.tiles(), sum);
#pragma unroll
    for (int l = 0; l < 4; ++l) {
      const int i = 4 * quad + l;
      if (i >= s.din()) break;
      const Wide<S, N> here = sum[l] - f.scale[i] * (xu[i] * total);
      write(slope + model * s.din(), at, s.dx * s.din(), d * s.din() + i, s.batch, here);
    }
  }
}

constexpr int kCotangentWarps = 32;  // of a block, at most
constexpr int kAtOnce = 16;          // slopes that a thread waits for together, as memory is far away

// sum_d (d x_{t+1,d} / d xu_i) g_d, given where the slopes of the latent dimensions and the rows of A begin for input i.
template <class S>
__device__ S pulled_back(const Shape& s, const S* slope, const S* scale, const S* weight, const S* g) {
  S sum = 0;
  for (int first = 0; first < s.dx; first += kAtOnce) {
    S slopes[kAtOnce];
#pragma unroll
    for (int d = 0; d < kAtOnce; ++d) slopes[d] = first + d < s.dx ? slope[int64_t(first + d) * s.din() * s.batch] : S(0);
#pragma unroll
    for (int d = 0; d < kAtOnce; ++d) {
      const int at = (first + d) * s.din();
      if (first + d < s.dx) sum += (scale[at] * slopes[d] + weight[at]) * g[(first + d) * kWarp];
    }
  }
  return sum;
}

// Grid (blocks of 32 trajectories, models); a warp takes one input after another. `g` (T, Din, B): by x_t and u_t.
template <class S>
__global__ void __launch_bounds__(kWarp * kCotangentWarps)
cotangents(Shape s, Given<S> given, const S* slope, const S* g_states, S* g) {
  const int warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp, lane = threadIdx.x % kWarp;
  const int wanted = blockIdx.x * kWarp + lane, b = wanted < s.batch ? wanted : s.batch - 1;
  const int64_t model = blockIdx.y;
  slope += model * (s.steps - 1) * s.dx * s.din() * s.batch, g_states += model * s.steps * s.dx * s.batch;
  g += model * s.steps * s.din() * s.batch;
  S* memory = shared_memory<S>();
  for (int t = s.steps - 1; t >= 0; --t) {
    S *here = memory + t % 2 * s.dx * kWarp, *later = memory + (t + 1) % 2 * s.dx * kWarp;
    for (int i = warp; i < s.din(); i += warps) {
      S sum = i < s.dx ? g_states[(int64_t(t) * s.dx + i) * s.batch + b] : S(0);
      if (t + 1 < s.steps) {
        const int64_t parameters = model * s.dx * s.din() + i;
        sum += pulled_back(s, slope + (int64_t(t) * s.dx * s.din() + i) * s.batch + b, given.scale + parameters,
                           given.weight + parameters, later + lane);
      }
      if (i < s.dx) here[i * kWarp + lane] = sum;
      g[(int64_t(t) * s.din() + i) * s.batch + b] = sum;
    }
    __syncthreads();
  }
}

}  // namespace prssm
