// The adjoint where there are few inducing points: as in adjoint.h and gradients.h, but a warp does all for its points.
#pragma once

#include "gradients.h"
#include "held.h"

namespace prssm {

__host__ __device__ inline int64_t linearise_held_numbers(const Shape& s) {
  return int64_t(kWarp * kHeldWarps * kHeldPoints) * s.columns();
}

// xu = [x_t; u_t] at a thread's points, then a one and zeros.
template <class S, int N>
__device__ void read_inputs(const Trajectories<S>& run, const Shape& s, const Points<N>& at, Column<S, N> xu) {
  for (int i = 0; i < s.columns(); ++i) {
    xu[i] = i < s.dx      ? read<S, N>(run.states, at, s.dx, i, s.batch)
            : i < s.din() ? read(run.u, at, s.du, i - s.dx, s.batch)
                          : all<S, N>(i == s.din() ? S(1) : S(0));
  }
}

// Grid (blocks of points, Dx, models). `jacobian` (T-1, Dx, Din, B): of x_{t+1} by xu_t.
template <class S, int N, int T>
__global__ void __launch_bounds__(kWarp * kHeldWarps)
linearise_held(Shape s, Given<S> given, Trajectories<S> everything, S* jacobian, S* deviation) {
  const Trajectories<S> run = everything.of_model(s, blockIdx.z);
  const int d = blockIdx.y, later = s.steps - 1;
  const Points<N> at = points_from<N>(blockIdx.x * N * blockDim.x + threadIdx.x, blockDim.x, s);
  const Column<S, N> xu{shared_memory<Wide<S, N>>() + threadIdx.x, int(blockDim.x)};
  const Wide<S, N> eps = read(run.eps, at, s.dx, d, s.batch);
  read_inputs(run, s, at, xu);
  const Dimension<S> f = given.dimension(s, blockIdx.z, d);
  const Held<S, N, T> k = held_covariances<T>(f, s, xu);
  Held<S, N, T> a, c;
  const Spread<S, N> by = held_predict(f, s, eps, k, a, c);
  const int64_t model = int64_t(blockIdx.z) * later * s.dx * s.batch;
  write(deviation + model, at, s.dx, d, s.batch, by.deviation);
  held_pull_to_a(f, s, at, by, a, c);
  const Held<S, N, T> by_log_k = held_pull_to_log_k(f, a, k);
  const Wide<S, N> total = sum_of(by_log_k);
  for (int quad = 0; quad < s.quads(); ++quad) {
    Wide<S, N> sum[4] = {};
#pragma unroll
    for (int p = 0; p < 4 * T; ++p) {
      const Four<S> entries = four(f.zeta.first + 4 * (quad * 4 * T + p));
#pragma unroll
      for (int l = 0; l < 4; ++l) sum[l] += entries.v[l] * by_log_k[p];
    }
#pragma unroll
    for (int l = 0; l < 4; ++l) {
      const int i = 4 * quad + l;
      if (i >= s.din()) break;
      const Wide<S, N> here = f.scale[i] * (sum[l] - f.scale[i] * (xu[i] * total)) + all<S, N>(f.weight[i]);
      write(jacobian + model * s.din(), at, s.dx * s.din(), d * s.din() + i, s.batch, here);
    }
  }
}

// Rows of a warp: k, a, c, inputs, g and, where each trajectory has its own mean, the sums of g a over time.
__host__ __device__ inline int held_rows(const Shape& s) {
  return (s.own_mean ? 4 : 3) * s.padded() + s.columns() + 4;
}

// All that a warp keeps: its rows, its sums, and squares of inputs that are summed for each thread.
__host__ __device__ inline int64_t warp_numbers(const Shape& s) {
  return int64_t(kWarp * kHeldPoints) * held_rows(s) + (sums_size(s) + 3) / 4 * 4 + kWarp * s.din();
}

__host__ __device__ inline int64_t gradients_held_numbers(const Shape& s) { return kHeldWarps * warp_numbers(s); }

// sums[row][column] += sum_n rows[row][n] columns[column][n], four by four, by one thread. Neighbours begin at different
// places, so that they do not wait for the same bank of memory.
template <int kCount, class S>
__device__ void add_products_alone(const S* rows, const S* columns, S* sums) {
  S sum[16] = {};
  for (int i = 0; i < kCount; i += 4) {
    const int at = (i + 4 * int(threadIdx.x)) % kCount;
    Four<S> row[4], column[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) row[r] = four(rows + r * kCount + at), column[r] = four(columns + r * kCount + at);
#pragma unroll
    for (int e = 0; e < 64; ++e) sum[e / 4] += row[e / 16].v[e % 4] * column[e / 4 % 4].v[e % 4];
  }
#pragma unroll
  for (int e = 0; e < 16; ++e) sums[e] += sum[e];
}

// One warp's work on one latent dimension.
template <class S, int N, int T>
class HeldGradients {
 public:
  __device__ HeldGradients(const Shape& s, const Dimension<S>& f, int first)
      : s_(s), f_(f), tiles_(s), lane_(threadIdx.x % kWarp), first_(first) {
    S* const memory = shared_memory<S>() + threadIdx.x / kWarp * warp_numbers(s);
    auto take = [&, row = 0](int rows) mutable {
      const Column<S, N> column{reinterpret_cast<Wide<S, N>*>(memory) + row * kWarp + lane_, kWarp};
      row += rows;
      return column;
    };
    k_ = take(s.padded()), a_ = take(s.padded()), c_ = take(s.padded()), xu_ = take(s.columns()), g_ = take(4);
    g_mean_ = take(0);
    sums_ = memory + kWarp * N * held_rows(s), squares_ = sums_ + (sums_size(s) + 3) / 4 * 4 + lane_;
    for (int i = lane_; i < sums_size(s); i += kWarp) sums_[i] = 0;
    for (int i = 0; i < s.din(); ++i) squares_[i * kWarp] = 0;
    for (int r = 0; r < 4; ++r) g_[r] = {};
    for (int p = 0; s.own_mean && p < s.points; ++p) g_mean_[p] = {};
  }

  __device__ void add_step(const Trajectories<S>& run, const S* g_later, int t, int d) {
    const Points<N> at = trajectories_from<N>(first_, kWarp, s_, t);
    const Wide<S, N> eps = read(run.eps, at, s_.dx, d, s_.batch), loaded = read(g_later, at, s_.din(), d, s_.batch);
    read_inputs(run, s_, at, xu_);
    Held<S, N, T> a, c;
    const Spread<S, N> by = predict(eps, a, c);
    const Wide<S, N> g = each<S, N>([&](int j) { return first_ + j * kWarp < s_.batch ? loaded.v[j] : S(0); });
    g_[0] = g, g_var_ += g * by.by_var, g_unsaid_ += g * by.by_unsaid;
    const Wide<S, N> twice_g_var = S(2) * (g * by.by_var);
    keep(a_, [&](int p) { return a[p]; }), keep(c_, [&](int p) { return twice_g_var * c[p]; });
    for (int p = 0; s_.own_mean && p < s_.points; ++p) g_mean_[p] += g * a_[p];
    multiply(0, tiles_.before_white());
    held_pull_to_a(f_, s_, at, by, a, c);
#pragma unroll
    for (int p = 0; p < 4 * T; ++p) a[p] = g * a[p];
    const Held<S, N, T> w = held_pull_to_log_k(f_, a, k_);
    keep(a_, [&](int p) { return a[p]; }), keep(c_, [&](int p) { return w[p]; });
    const Wide<S, N> total = sum_of(w);
    for (int i = 0; i < s_.din(); ++i) {
      const Wide<S, N> square = total * (xu_[i] * xu_[i]);
      for (int j = 0; j < N; ++j) squares_[i * kWarp] += square.v[j];
    }
    multiply(tiles_.before_white(), tiles_.count());
  }

  // The sums of all warps of the block together.
  __device__ void write_sums(S* sums, S* g_mean) {
    S* const rest = sums_ + 16 * tiles_.count();
    S g_var = 0, g_unsaid = 0;
    for (int j = 0; j < N; ++j) g_var += g_var_.v[j], g_unsaid += g_unsaid_.v[j];
    for (int i = 0; i < s_.din(); ++i) write_sum(squares_[i * kWarp], rest + i);
    write_sum(g_var, rest + s_.din()), write_sum(g_unsaid, rest + s_.din() + 1);
    for (int p = 0; s_.own_mean && p < s_.points; ++p) {
      for (int j = 0; j < N; ++j) {
        if (first_ + j * kWarp < s_.batch) g_mean[int64_t(p) * s_.batch + first_ + j * kWarp] = g_mean_[p].v[j];
      }
    }
    __syncthreads();
    const S* const first_sums = shared_memory<S>() + kWarp * N * held_rows(s_);
    for (int i = threadIdx.x; i < sums_size(s_); i += blockDim.x) {
      S sum = 0;
      for (int warp = 0; warp < kHeldWarps; ++warp) sum += first_sums[warp * warp_numbers(s_) + i];
      sums[i] = sum;
    }
  }

 private:
  __device__ Spread<S, N> predict(const Wide<S, N>& eps, Held<S, N, T>& a, Held<S, N, T>& c) const {
    const Held<S, N, T> k = held_covariances<T>(f_, s_, xu_);
    keep(k_, [&](int p) { return k[p]; });
    return held_predict(f_, s_, eps, k, a, c);
  }

  template <class Entry>
  __device__ static void keep(Column<S, N> column, Entry entry) {
#pragma unroll
    for (int p = 0; p < 4 * T; ++p) column[p] = entry(p);
  }

  // The tiles from `begin` to `end`.
  __device__ void multiply(int begin, int end) {
    __syncwarp();
    for (int tile = begin + lane_; tile < end; tile += kWarp) {
      const Tile at = tiles_.tile(tile, s_.quads());
      add_products_alone<kWarp * N>(numbers(at.rows, at.row), numbers(at.columns, at.column), sums_ + 16 * tile);
    }
    __syncwarp();
  }

  // Four rows of all points of the warp. The derivative by a comes into the place of a, w into that of c.
  __device__ const S* numbers(Vector vector, int tile) const {
    const Wide<S, N>* const first = vector == Vector::kCovariance ? k_.base : vector == Vector::kG ? g_.base
                                  : vector == Vector::kInputs ? xu_.base
                                  : vector == Vector::kA || vector == Vector::kByA ? a_.base : c_.base;
    return reinterpret_cast<const S*>(first - lane_ + 4 * tile * kWarp);
  }

  const Shape& s_;
  const Dimension<S>& f_;
  const Products tiles_;
  const int lane_, first_;
  Column<S, N> k_, a_, c_, xu_, g_, g_mean_;
  S *sums_, *squares_;
  Wide<S, N> g_var_ = {}, g_unsaid_ = {};
};

// Grid (slices, Dx, models), as `gradients`; a warp has its own trajectories.
template <class S, int N, int T>
__global__ void __launch_bounds__(kWarp * kHeldWarps, 20 / sizeof(S))  // as many blocks as shared memory has room for
gradients_held(Shape s, Given<S> given, Trajectories<S> everything, const S* g, int stretches, S* sums, S* g_mean) {
  const Slice<S> slice(s, stretches, g, sums, g_mean);
  const Dimension<S> f = given.dimension(s, slice.model, slice.d);
  const int warp = int(threadIdx.x / kWarp), lane = int(threadIdx.x % kWarp);
  HeldGradients<S, N, T> mine(s, f, (slice.block * kHeldWarps + warp) * N * kWarp + lane);
  const Trajectories<S> run = everything.of_model(s, slice.model);
  for (int t = slice.begin; t < slice.end; ++t) mine.add_step(run, slice.g_later, t, slice.d);
  mine.write_sums(slice.sums, slice.g_mean);
}

}  // namespace prssm
