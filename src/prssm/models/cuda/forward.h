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

// The parameters of one latent dimension, which a warp keeps in shared memory where they fit.
__host__ __device__ inline int64_t dimension_numbers(const Shape& s) {
  return s.padded() * (s.columns() + 2) + 32 * s.triangle() + 2 * s.columns();
}

// How many numbers a block keeps in shared memory.
__host__ __device__ inline int64_t forward_numbers(const Shape& s, int points, int warps, bool resident) {
  const int64_t working = int64_t(points) * (2 * s.padded() * warps + 2 * s.columns());
  return working + (resident ? warps * dimension_numbers(s) : 0);
}

// N trajectories, `apart` from each other; those beyond the batch repeat the last one.
template <int N>
__device__ Points<N> trajectories_from(int first, int apart, const Shape& s, int t) {
  Points<N> at;
#pragma unroll
  for (int j = 0; j < N; ++j) at.t[j] = t, at.b[j] = min(first + j * apart, s.batch - 1);
  return at;
}

// The same dimension with its parameters in shared memory; `memory` moves on. One warp copies.
template <class S>
__device__ Dimension<S> resident_copy(Dimension<S> f, const Shape& s, S* memory) {
  auto copied = [&](const S* from, int count) {
    S* const to = memory;
    for (int i = threadIdx.x % kWarp; i < count; i += kWarp) to[i] = from[i];
    memory += (count + 3) / 4 * 4;
    return to;
  };
  f.zeta_scaled.first = copied(f.zeta_scaled.first, s.padded() * s.columns());
  f.white.first = copied(f.white.first, 16 * s.triangle());
  if (s.spread) f.spread.first = copied(f.spread.first, 16 * s.triangle());
  f.zeta_norm = copied(f.zeta_norm, s.padded()), f.scale = copied(f.scale, s.columns());
  f.weight = copied(f.weight, s.din());
  if (!s.own_mean) f.mean = copied(f.mean, s.padded());
  __syncwarp();
  return f;
}

// Four rows of a vector in shared memory.
template <class S, int N>
struct FourWide {
  Four<S> part[N];
  __device__ explicit FourWide(const Wide<S, N>* x) {
#pragma unroll
    for (int n = 0; n < N; ++n) part[n] = four(reinterpret_cast<const S*>(x) + 4 * n);
  }
  __device__ Wide<S, N> operator[](int l) const {
    return each<S, N>([&](int j) { return part[(l * N + j) / 4].v[(l * N + j) % 4]; });
  }
};

// sum_i M_pi x_i over the tiles from `begin` to `end`.
template <class S, int N, class M>
__device__ Wide<S, N> row_times(const M& matrix, int p, const Wide<S, N>* x, int begin, int end) {
  Wide<S, N> sum = {};
  Row<S> row = matrix.row(p, begin);
#pragma unroll 4
  for (int quad = begin; quad < end; ++quad, row.next()) {
    const Four<S> entries = four(row.at);
    const FourWide<S, N> here(x + 4 * quad);
#pragma unroll
    for (int l = 0; l < 4; ++l) sum += entries.v[l] * here[l];
  }
  return sum;
}

// x_{t+1} in one latent dimension by one warp, its threads sharing the rows of the matrices. `k` and `a` are shared memory.
template <class S, int N>
__device__ Wide<S, N> next_state(const Dimension<S>& f, const Shape& s, const Points<N>& now, const Wide<S, N>* xu,
                                 const Wide<S, N>& eps, Wide<S, N>* k, Wide<S, N>* a) {
  const int lane = threadIdx.x % kWarp;
  Wide<S, N> norm = {}, squares = {}, said = {}, mean = {};
#pragma unroll 2
  for (int quad = 0; quad < s.quads(); ++quad) {
    const Four<S> scale = four(f.scale + 4 * quad);
    const FourWide<S, N> here(xu + 4 * quad);
#pragma unroll
    for (int l = 0; l < 4; ++l) norm += S(0.5) * ((scale.v[l] * here[l]) * (scale.v[l] * here[l]));
  }
  for (int p = lane; p < s.padded(); p += kWarp) {
    const Wide<S, N> product = row_times<S, N>(f.zeta_scaled, p, xu, 0, s.quads());
    k[p] = f.variance * at_most_one_exp(product - norm - all<S, N>(f.zeta_norm[p]));
  }
  __syncwarp();
  for (int p = lane; p < s.padded(); p += kWarp) {
    const Wide<S, N> x = row_times<S, N>(f.white, p, k, 0, f.white.row_end(p / 4));
    a[p] = x, squares += x * x, mean += mean_of(f, s, p, now) * x;
  }
  __syncwarp();
  for (int p = lane; s.spread && p < s.padded(); p += kWarp) {
    const Wide<S, N> x = row_times<S, N>(f.spread, p, a, f.spread.row_begin(p / 4), s.tiles());
    said += x * x;
  }
  for (int i = lane; i < s.din(); i += kWarp) mean += f.weight[i] * xu[i];
#pragma unroll
  for (int apart = 1; apart < kWarp; apart *= 2) {
    squares += swapped<kWarp>(squares, apart), said += swapped<kWarp>(said, apart), mean += swapped<kWarp>(mean, apart);
  }
  const Wide<S, N> variance = at_least_zero(all<S, N>(f.variance) - squares) + said + all<S, N>(f.process_var);
  return mean + all<S, N>(f.bias) + root(variance) * eps;
}

// Grid (blocks of N trajectories, models). A warp takes one latent dimension after another, or keeps one, `kResident`.
template <class S, int N, bool kResident>
__global__ void __launch_bounds__(kWarp * kForwardWarps)
forward(Shape s, Given<S> given, Trajectories<S> everything) {
  const Trajectories<S> run = everything.of_model(s, blockIdx.y);
  const int warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp, lane = threadIdx.x % kWarp;
  Wide<S, N>* memory = shared_memory<Wide<S, N>>();
  Wide<S, N>*k = memory + 2 * warp * s.padded(), *a = k + s.padded();
  Wide<S, N>* const buffers = memory + 2 * warps * s.padded();
  Wide<S, N>*xu = buffers, *following = buffers + s.columns();
  Points<N> now = trajectories_from<N>(blockIdx.x * N, 1, s, 0);
  for (int i = threadIdx.x; i < s.columns(); i += blockDim.x) {
    xu[i] = following[i] = {};
    if (i < s.dx) write(run.states, now, s.dx, i, s.batch, xu[i] = read(run.x1, now, s.dx, i, s.batch));
    else if (i < s.din()) xu[i] = read(run.u, now, s.du, i - s.dx, s.batch);
  }
  Dimension<S> kept = given.dimension(s, blockIdx.y, warp);
  S* const parameters = reinterpret_cast<S*>(buffers + 2 * s.columns());
  if constexpr (kResident) kept = resident_copy(kept, s, parameters + warp * int(dimension_numbers(s)));
  for (int t = 0; t + 1 < s.steps; ++t) {
    const Points<N> next = trajectories_from<N>(blockIdx.x * N, 1, s, t + 1);
    const int input = threadIdx.x;  // read ahead, as memory is far away
    const Wide<S, N> ahead = input < s.du ? read(run.u, next, s.du, input, s.batch) : Wide<S, N>{};
    __syncthreads();
    for (int d = warp; d < s.dx; d += warps) {
      const Wide<S, N> eps = read(run.eps, now, s.dx, d, s.batch);
      const Wide<S, N> x = next_state(kResident ? kept : given.dimension(s, blockIdx.y, d), s, now, xu, eps, k, a);
      if (lane == 0) following[d] = x, write(run.states, next, s.dx, d, s.batch, x);
    }
    if (input < s.du) following[s.dx + input] = ahead;
    for (int i = input + blockDim.x; i < s.du; i += blockDim.x) {
      following[s.dx + i] = read(run.u, next, s.du, i, s.batch);
    }
    now = next;
    xu = buffers + (t % 2 ? 0 : s.columns()), following = buffers + (t % 2 ? s.columns() : 0);
  }
}

}  // namespace prssm
