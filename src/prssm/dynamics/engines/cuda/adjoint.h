// The adjoint, with all steps side by side but for one small recursion:
//
//   linearise    derivatives of x_{t+1} by (x_t, u_t), for all points and latent dimensions at once
//   cotangents   g_t = h_t + J_t' g_{t+1}
//   gradients    sums over points, of which the gradients of all parameters are made
#pragma once

#include "forward.h"

namespace prssm {

constexpr int kTeam = 8;  // warps of a block that share its points, at most

inline int team(const Shape& s) {
  return s.tiles() >= 8 ? kTeam : s.tiles() >= 4 ? 4 : s.tiles() >= 2 ? 2 : 1;
}

// Partial sums of the warps of a team, for two quantities.
__host__ __device__ inline int64_t partial_rows(int warps) { return 2 * warps; }

__host__ __device__ inline int64_t linearise_numbers(const Shape& s, int points, int warps) {
  return int64_t(kWarp * points) * (3 * s.padded() + s.columns() + partial_rows(warps));
}

// What a team of warps does together with the points of its lanes: every thread has the same point
// in all warps.
template <class S, int N>
struct Team {
  Share share;
  Column<S, N> partial;  // (2 warps)

  // Sums over the warps of two quantities, after which also all else that the warps have written
  // can be read.
  __device__ void add_up(Wide<S, N>& first, Wide<S, N>& second) const {
    partial[2 * share.warp] = first;
    partial[2 * share.warp + 1] = second;
    __syncthreads();
    first = second = {};
    for (int warp = 0; warp < share.warps; ++warp) {
      first += partial[2 * warp];
      second += partial[2 * warp + 1];
    }
  }

  // xu = [x_t; u_t] at these points, then a one and zeros.
  __device__ void read_points(const Trajectories<S>& run, const Shape& s, const Points<N>& at,
                              Column<S, N> xu) const {
    for (int i = share.warp; i < s.columns(); i += share.warps) {
      xu[i] = i < s.dx      ? read<S, N>(run.states, at, s.dx, i, s.batch)
              : i < s.din() ? read(run.u, at, s.du, i - s.dx, s.batch)
                            : all<S, N>(i == s.din() ? S(1) : S(0));
    }
    __syncthreads();
  }

  // k, a = W k, c = V'a and what follows for the variance.
  __device__ Spread<S, N> predict(const Dimension<S>& f, const Shape& s, Column<S, N> xu,
                                  const Wide<S, N>& eps, Column<S, N> k, Column<S, N> a,
                                  Column<S, N> c) const {
    covariances(f, s, xu, share, k);
    __syncthreads();
    Wide<S, N> squares = {}, said = {};
    times(f.white, k, share, [&](int p, const Wide<S, N>& x) { a[p] = x, squares += x * x; });
    __syncthreads();
    if (s.spread)
      times(f.spread, a, share, [&](int p, const Wide<S, N>& x) { c[p] = x, said += x * x; });
    add_up(squares, said);
    return spread_of(f, squares, said, eps);
  }

  // The derivative of x_{t+1} by a; it may lie where a lies.
  __device__ void pull_to_a(const Dimension<S>& f, const Shape& s, const Points<N>& at,
                            const Spread<S, N>& by, Column<S, N> a, Column<S, N> c,
                            Column<S, N> by_a) const {
    auto direct = [&](int p) { return mean_of(f, s, p, at) - S(2) * (by.by_unsaid * a[p]); };
    if (s.spread) {
      transposed_times(f.spread, c, share, [&](int p, const Wide<S, N>& x) {
        by_a[p] = direct(p) + S(2) * (by.by_var * x);
      });
    } else {
      for (int p = share.warp; p < s.padded(); p += share.warps) by_a[p] = direct(p);
    }
    __syncthreads();
  }

  // The derivative of x_{t+1} by log k, and its sum.
  __device__ Wide<S, N> pull_to_log_k(const Dimension<S>& f, Column<S, N> k, Column<S, N> by_a,
                                      Column<S, N> by_log_k) const {
    Wide<S, N> total = {}, nothing = {};
    transposed_times(f.white, by_a, share,
                     [&](int q, const Wide<S, N>& x) { total += by_log_k[q] = x * k[q]; });
    add_up(total, nothing);
    return total;
  }
};

// N points, `apart` from each other, of those of all steps but the last; beyond the end, the last
// point again.
template <int N>
__device__ Points<N> points_from(int first, int apart, const Shape& s) {
  Points<N> at;
  int t = first / s.batch, b = first % s.batch;
#pragma unroll
  for (int j = 0; j < N; ++j, b += apart) {
    while (b >= s.batch) {
      b -= s.batch;
      ++t;
    }
    at.t[j] = t < s.steps - 1 ? t : s.steps - 2;
    at.b[j] = t < s.steps - 1 ? b : s.batch - 1;
  }
  return at;
}

// Grid (blocks of points, Dx, models), one team a block. `jacobian` (T-1, Dx, Din, B): of x_{t+1}
// by xu_t.
template <class S, int N>
__global__ void __launch_bounds__(kWarp* kTeam)
    linearise(Shape s, Given<S> given, Trajectories<S> everything, S* jacobian, S* deviation) {
  const Trajectories<S> run = everything.of_model(s, blockIdx.z);
  const int d = blockIdx.y, later = s.steps - 1, lane = threadIdx.x % kWarp;
  const Share share{int(threadIdx.x / kWarp), int(blockDim.x / kWarp)};
  const Points<N> at = points_from<N>(blockIdx.x * N * kWarp + lane, kWarp, s);
  auto column = [&](int rows) {
    return Column<S, N>{shared_memory<Wide<S, N>>() + rows * kWarp + lane, kWarp};
  };
  const Column<S, N> k = column(0), a = column(s.padded()), c = column(2 * s.padded()),
                     xu = column(3 * s.padded());
  const Team<S, N> team{share, column(3 * s.padded() + s.columns())};
  const Wide<S, N> eps = read(run.eps, at, s.dx, d, s.batch);
  team.read_points(run, s, at, xu);
  const Dimension<S> f = given.dimension(s, blockIdx.z, d);
  const Spread<S, N> by = team.predict(f, s, xu, eps, k, a, c);
  const int64_t model = int64_t(blockIdx.z) * later * s.dx * s.batch;
  if (share.warp == 0) write(deviation + model, at, s.dx, d, s.batch, by.deviation);
  team.pull_to_a(f, s, at, by, a, c, a);
  const Wide<S, N> total = team.pull_to_log_k(f, k, a, c);
  for (int quad = share.first(); quad < s.quads(); quad += share.warps) {
    Wide<S, N> sum[4] = {};
    add_columns(f.zeta, quad, c, 0, s.tiles(), sum);
#pragma unroll
    for (int l = 0; l < 4; ++l) {
      const int i = 4 * quad + l;
      if (i >= s.din()) break;
      const Wide<S, N> here =
          f.scale[i] * (sum[l] - f.scale[i] * (xu[i] * total)) + all<S, N>(f.weight[i]);
      write(jacobian + model * s.din(), at, s.dx * s.din(), d * s.din() + i, s.batch, here);
    }
  }
}

constexpr int kTogether = 8;        // trajectories of a block
constexpr int kCotangentRows = 64;  // inputs of a block at a time, at most

// What the loss says about input i at step t itself, and the first derivatives of x_{t+1} by it.
template <class S, int kAhead>
struct Derivatives {
  S direct, by_input[kAhead];
};

template <int kAhead, class S>
__device__ Derivatives<S, kAhead> read_derivatives(const Shape& s, int t, int i, int b,
                                                   const S* jacobian, const S* g_states) {
  Derivatives<S, kAhead> row = {};
  if (t >= 0 && i < s.dx) row.direct = g_states[(int64_t(t) * s.dx + i) * s.batch + b];
  const S* first = jacobian + (int64_t(t) * s.dx * s.din() + i) * s.batch + b;
#pragma unroll
  for (int d = 0; d < kAhead; ++d) {
    if (t >= 0 && t + 1 < s.steps && d < s.dx)
      row.by_input[d] = first[int64_t(d) * s.din() * s.batch];
  }
  return row;
}

// Rows of cotangents in shared memory, so that all kAhead of them can be read.
__host__ __device__ inline int cotangent_rows(const Shape& s, int ahead) {
  return s.dx < ahead ? ahead : s.dx;
}

// Steps that the Jacobian is read before it is used, as memory is far away.
template <class S>
constexpr int kStepsAhead = 16 / sizeof(S);

// Grid (blocks of trajectories, models); a thread takes one input after another. `g` (T, Din, B):
// by x_t and u_t.
template <class S, int kAhead>
__global__ void __launch_bounds__(kTogether* kCotangentRows)
    cotangents(Shape s, const S* jacobian, const S* g_states, S* g) {
  const int mine = threadIdx.x / kTogether, rows = blockDim.x / kTogether,
            lane = threadIdx.x % kTogether;
  const int b = min(int(blockIdx.x) * kTogether + lane, s.batch - 1),
            kept = cotangent_rows(s, kAhead);
  const int64_t model = blockIdx.y;
  jacobian += model * (s.steps - 1) * s.dx * s.din() * s.batch;
  g_states += model * s.steps * s.dx * s.batch;
  g += model * s.steps * s.din() * s.batch;
  S* memory = shared_memory<S>();
  for (int i = mine; i < 2 * kept; i += rows)
    memory[i * kTogether + lane] = 0;  // nothing comes from after the last step
  __syncthreads();
  auto step = [&](int t, const Derivatives<S, kAhead>& first) {
    S *here = memory + t % 2 * kept * kTogether + lane,
      *later = memory + (t + 1) % 2 * kept * kTogether + lane;
    auto add = [&](int i, const Derivatives<S, kAhead>& row) {
      S sum = row.direct;
#pragma unroll
      for (int d = 0; d < kAhead; ++d) sum += row.by_input[d] * later[d * kTogether];
      for (int d = kAhead; d < s.dx && t + 1 < s.steps; ++d) {
        sum +=
            jacobian[((int64_t(t) * s.dx + d) * s.din() + i) * s.batch + b] * later[d * kTogether];
      }
      if (i < s.dx) here[i * kTogether] = sum;
      g[(int64_t(t) * s.din() + i) * s.batch + b] = sum;
    };
    add(mine, first);
    for (int i = mine + rows; i < s.din(); i += rows)
      add(i, read_derivatives<kAhead>(s, t, i, b, jacobian, g_states));
    __syncthreads();
  };
  Derivatives<S, kAhead> ahead[kStepsAhead<S>];
#pragma unroll
  for (int j = 0; j < kStepsAhead<S>; ++j)
    ahead[j] = read_derivatives<kAhead>(s, s.steps - 1 - j, mine, b, jacobian, g_states);
  for (int last = s.steps - 1; last >= 0; last -= kStepsAhead<S>) {
#pragma unroll
    for (int j = 0; j < kStepsAhead<S>; ++j) {
      if (last - j < 0) break;
      step(last - j, ahead[j]);
      ahead[j] =
          read_derivatives<kAhead>(s, last - j - kStepsAhead<S>, mine, b, jacobian, g_states);
    }
  }
}

}  // namespace prssm
