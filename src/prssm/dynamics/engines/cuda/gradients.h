// Sums over points for the gradients of the parameters: a team prepares its points, then shares the
// outer products.
#pragma once

#include "adjoint.h"

namespace prssm {

constexpr int kSplit = 8;  // threads that share one tile of an outer product

// Tiles of four by four sums: dL/dV (lower triangle), dL/dm, g by [xu; 1], dL/dW (lower triangle)
// and w by [xu; 1], where w_p = dL/d log k_p. Of a vector of one row, the other three rows are
// zero.
struct Products {
  int spread, mean, affine, white, inputs;
  __host__ __device__ explicit Products(const Shape& s)
      : spread(s.spread ? s.tiles() * (s.tiles() + 1) / 2 : 0), mean(s.own_mean ? 0 : s.tiles()),
        affine(s.quads()), white(s.tiles() * (s.tiles() + 1) / 2), inputs(s.tiles() * s.quads()) {}
  __host__ __device__ int before_white() const { return spread + mean + affine; }
  __host__ __device__ int count() const { return before_white() + white + inputs; }
};

// What a slice of points leaves for each latent dimension: the tiles, sums of xu_i^2 times all w,
// of g by_var and of g by_unsaid.
__host__ __device__ inline int64_t sums_size(const Shape& s) {
  return 16 * Products(s).count() + s.din() + 2;
}

__host__ __device__ inline int64_t gradients_numbers(const Shape& s, int points, int warps) {
  return int64_t(kWarp * points) * (4 * s.padded() + s.columns() + 4 + partial_rows(warps)) +
         16 * Products(s).count() + kWarp * s.din();
}

// Of twice `kCount` numbers each thread keeps one half, which it adds to the same half of the
// thread that keeps the other.
template <int kCount, class S>
__device__ void add_halves(S* x, int split) {
  constexpr int kApart = kCount / 2;
  const bool upper = split & kApart;
#pragma unroll
  for (int e = 0; e < kCount; ++e) {
    const S mine = upper ? x[e + kCount] : x[e], other = upper ? x[e] : x[e + kCount];
    x[e] = mine + swapped<kSplit>(other, kApart);
  }
}

// sums[row][column] += sum_n rows[row][n] columns[column][n], four by four.
template <class S>
__device__ void add_products(const S* rows, const S* columns, int n, S* sums) {
  const int split = threadIdx.x % kSplit;
  S sum[4][4] = {};
  for (int at = 4 * split; at < n; at += 4 * kSplit) {
    Four<S> row[4], column[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      row[r] = four(rows + r * n + at);
      column[r] = four(columns + r * n + at);
    }
#pragma unroll
    for (int e = 0; e < 64; ++e)
      sum[e / 16][e / 4 % 4] += row[e / 16].v[e % 4] * column[e / 4 % 4].v[e % 4];
  }
  S* const all = &sum[0][0];
  add_halves<8>(all, split);
  add_halves<4>(all, split);
  add_halves<2>(all, split);
  sums[2 * split] += all[0];
  sums[2 * split + 1] += all[1];
}

// One team's work on one latent dimension: `c` serves as the sum of g a over time where each
// trajectory has its own mean.
template <class S, int N>
class Gradients {
 public:
  __device__ Gradients(const Shape& s, const Dimension<S>& f, int first)
      : s_(s), f_(f), tiles_(s), first_(first) {
    Wide<S, N>* memory = shared_memory<Wide<S, N>>() + threadIdx.x % kWarp;
    auto take = [&](int rows) {
      const Column<S, N> column{memory, kWarp};
      memory += rows * kWarp;
      return column;
    };
    k_ = take(s.padded());
    a_ = take(s.padded());
    c_ = take(s.padded());
    by_a_ = take(s.padded());
    xu_ = take(s.columns());
    g_ = take(4);
    team_ = {{int(threadIdx.x / kWarp), int(blockDim.x / kWarp)},
             take(int(partial_rows(blockDim.x / kWarp)))};
    sums_ = reinterpret_cast<S*>(memory - threadIdx.x % kWarp);
    for (int i = threadIdx.x; i < 16 * tiles_.count(); i += blockDim.x) sums_[i] = 0;
    mine(s.padded(), [&](int p) { c_[p] = {}; });
    mine(4, [&](int r) { g_[r] = {}; });
    squares_ = sums_ + 16 * tiles_.count() + threadIdx.x % kWarp;
    mine(s.din(), [&](int i) { squares_[i * kWarp] = 0; });
  }

  __device__ void add_step(const Trajectories<S>& run, const S* g_later, int t, int d) {
    const Points<N> at = trajectories_from<N>(first_, kWarp, s_, t);
    const Wide<S, N> eps = read(run.eps, at, s_.dx, d, s_.batch),
                     loaded = read(g_later, at, s_.din(), d, s_.batch);
    team_.read_points(run, s_, at, xu_);
    const Spread<S, N> by = team_.predict(f_, s_, xu_, eps, k_, a_, c_);
    team_.pull_to_a(f_, s_, at, by, a_, c_, by_a_);
    const Wide<S, N> g =
        each<S, N>([&](int j) { return first_ + j * kWarp < s_.batch ? loaded.v[j] : S(0); });
    const Wide<S, N> twice_g_var = S(2) * (g * by.by_var);
    mine(s_.padded(), [&](int p) {
      by_a_[p] = g * by_a_[p];
      c_[p] = s_.own_mean ? c_[p] + g * a_[p] : twice_g_var * c_[p];
    });
    mine(1, [&](int) { g_[0] = g, g_var_ += g * by.by_var, g_unsaid_ += g * by.by_unsaid; });
    multiply(0, tiles_.before_white());
    const Wide<S, N> total =
        team_.pull_to_log_k(f_, k_, by_a_, a_);  // by_a has g in it, so this has
    mine(s_.din(), [&](int i) {
      const Wide<S, N> square = total * (xu_[i] * xu_[i]);
      for (int j = 0; j < N; ++j) squares_[i * kWarp] += square.v[j];
    });
    multiply(tiles_.before_white(), tiles_.count());
  }

  __device__ void write_sums(S* sums, S* g_mean) {
    for (int i = threadIdx.x; i < 16 * tiles_.count(); i += blockDim.x) sums[i] = sums_[i];
    S* const rest = sums + 16 * tiles_.count();
    mine(s_.din(), [&](int i) { write_sum(squares_[i * kWarp], rest + i); });
    S g_var = 0, g_unsaid = 0;
    for (int j = 0; j < N; ++j) {
      g_var += g_var_.v[j];
      g_unsaid += g_unsaid_.v[j];
    }
    mine(1,
         [&](int) { write_sum(g_var, rest + s_.din()), write_sum(g_unsaid, rest + s_.din() + 1); });
    mine(s_.own_mean ? s_.points : 0, [&](int p) {
      for (int j = 0; j < N; ++j) {
        if (first_ + j * kWarp < s_.batch)
          g_mean[int64_t(p) * s_.batch + first_ + j * kWarp] = c_[p].v[j];
      }
    });
  }

 private:
  // The sum over the threads of a warp.
  __device__ static void write_sum(S x, S* sum) {
    for (int apart = 1; apart < kWarp; apart *= 2) x += swapped<kWarp>(x, apart);
    if (threadIdx.x % kWarp == 0) *sum = x;
  }

  // work(row) for this warp's share of the rows.
  template <class Work>
  __device__ void mine(int rows, Work work) const {
    for (int row = threadIdx.x / kWarp; row < rows; row += blockDim.x / kWarp) work(row);
  }

  // The tiles from `begin` to `end`.
  __device__ void multiply(int begin, int end) {
    __syncthreads();
    for (int tile = begin + threadIdx.x / kSplit; tile < end; tile += blockDim.x / kSplit) {
      int left = tile;
      const Column<S, N>*rows = &a_, *columns = &c_;
      int row = 0, column = 0;
      auto is = [&](int count) { return left < count ? true : (left -= count, false); };
      if (is(tiles_.spread))
        lower_tile(left, row, column);
      else if (is(tiles_.mean)) {
        row = left;
        columns = &g_;
      } else if (is(tiles_.affine)) {
        rows = &g_;
        column = left;
        columns = &xu_;
      } else if (is(tiles_.white)) {
        lower_tile(left, row, column);
        rows = &by_a_;
        columns = &k_;
      } else {
        row = left / s_.quads();
        column = left % s_.quads();
        columns = &xu_;
      }
      add_products(numbers(*rows, row), numbers(*columns, column), kWarp * N, sums_ + 16 * tile);
    }
    __syncthreads();
  }

  __device__ static void lower_tile(int index, int& row, int& column) {
    while ((row + 1) * (row + 2) / 2 <= index) ++row;
    column = index - row * (row + 1) / 2;
  }

  // Four rows of all points of the warp.
  __device__ static const S* numbers(const Column<S, N>& column, int tile) {
    return reinterpret_cast<const S*>(column.base - threadIdx.x % kWarp + 4 * tile * kWarp);
  }

  const Shape& s_;
  const Dimension<S>& f_;
  const Products tiles_;
  const int first_;
  Column<S, N> k_, a_, c_, by_a_, xu_, g_;
  Team<S, N> team_;
  S *sums_, *squares_;
  Wide<S, N> g_var_ = {}, g_unsaid_ = {};
};

// Grid (slices, Dx, models), one team a block; a slice is a block of trajectories in one of the
// `stretches` of time. `g_mean` (stretches, Dx, P, B) where each trajectory has its own mean.
template <class S, int N>
__global__ void __launch_bounds__(kWarp* kTeam)
    gradients(Shape s, Given<S> given, Trajectories<S> everything, const S* g, int stretches,
              S* sums, S* g_mean) {
  const int blocks = gridDim.x / stretches, stretch = blockIdx.x / blocks, d = blockIdx.y;
  const int64_t model = blockIdx.z, later = s.steps - 1;
  const Trajectories<S> run = everything.of_model(s, model);
  const Dimension<S> f = given.dimension(s, model, d);
  Gradients<S, N> team(s, f, blockIdx.x % blocks * N * kWarp + threadIdx.x % kWarp);
  const S* g_later = g + (model * s.steps + 1) * s.din() * s.batch;
  const int begin = int(stretch * later / stretches), end = int((stretch + 1) * later / stretches);
  for (int t = begin; t < end; ++t) team.add_step(run, g_later, t, d);
  team.write_sums(sums + ((model * gridDim.x + blockIdx.x) * s.dx + d) * sums_size(s),
                  s.own_mean
                      ? g_mean + ((model * stretches + stretch) * s.dx + d) * s.points * s.batch
                      : nullptr);
}

}  // namespace prssm
