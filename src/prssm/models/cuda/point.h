// What a thread computes of its points (x_t, u_t) for one latent dimension. docs/adjoint.md has the mathematics and names.
#pragma once

#include "arrays.h"
#include "wide.h"

namespace prssm {

// A vector of a thread's points in shared memory: neighbouring threads hold neighbouring points.
template <class S, int N>
struct Column {
  Wide<S, N>* base;
  int pitch;
  __device__ Wide<S, N>& operator[](int p) const { return base[p * pitch]; }
};

// The share of a thread, where several work on one point: every `lanes`-th tile of rows, beginning with tile `lane`.
struct Share {
  int lane, lanes;
};

// sum_r += sum_i M_ri x_i for the four rows of a tile and `quads` times four columns.
template <class S, int N>
__device__ void add_rows(const Tiled<S>& matrix, int tile, Column<S, N> x, int quads, Wide<S, N>* sum) {
#pragma unroll 2
  for (int quad = 0; quad < quads; ++quad) {
    const Wide<S, N> here[4] = {x[4 * quad], x[4 * quad + 1], x[4 * quad + 2], x[4 * quad + 3]};
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const Four<S> entries = matrix(tile, r, quad);
#pragma unroll
      for (int l = 0; l < 4; ++l) sum[r] += entries.v[l] * here[l];
    }
  }
}

// sum_l += sum_p M_pl x_p for four columns and the rows of the tiles from `first` to `tiles`.
template <class S, int N>
__device__ void add_columns(const Tiled<S>& matrix, int quad, Column<S, N> x, int first, int tiles, Wide<S, N>* sum) {
#pragma unroll 2
  for (int tile = first; tile < tiles; ++tile) {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const Four<S> entries = matrix(tile, r, quad);
      const Wide<S, N> here = x[4 * tile + r];
#pragma unroll
      for (int l = 0; l < 4; ++l) sum[l] += entries.v[l] * here;
    }
  }
}

// use(p, (M x)_p) for a lower triangular M.
template <class S, int N, class Use>
__device__ void lower_times(const Tiled<S>& matrix, int tiles, Column<S, N> x, Share share, Use use) {
  for (int tile = share.lane; tile < tiles; tile += share.lanes) {
    Wide<S, N> sum[4] = {};
    add_rows(matrix, tile, x, tile + 1, sum);
#pragma unroll
    for (int r = 0; r < 4; ++r) use(4 * tile + r, sum[r]);
  }
}

// use(q, (M' x)_q) for a lower triangular M.
template <class S, int N, class Use>
__device__ void transposed_times(const Tiled<S>& matrix, int tiles, Column<S, N> x, Share share, Use use) {
  for (int quad = share.lane; quad < tiles; quad += share.lanes) {
    Wide<S, N> sum[4] = {};
    add_columns(matrix, quad, x, quad, tiles, sum);
#pragma unroll
    for (int l = 0; l < 4; ++l) use(4 * quad + l, sum[l]);
  }
}

// k_p = k(zeta_p, xu), the square of the distance multiplied out.
template <class S, int N>
__device__ void covariances(const Dimension<S>& f, const Shape& s, Column<S, N> xu, Share share, Column<S, N> k) {
  Wide<S, N> norm = {};
  for (int i = 0; i < s.din(); ++i) {
    const Wide<S, N> scaled = f.scale[i] * xu[i];
    norm += S(0.5) * (scaled * scaled);
  }
  for (int tile = share.lane; tile < s.tiles(); tile += share.lanes) {
    Wide<S, N> product[4] = {};
    add_rows(f.zeta_scaled, tile, xu, s.quads(), product);
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      k[4 * tile + r] = f.variance * at_most_one_exp(product[r] - norm - all<S, N>(f.zeta_norm[4 * tile + r]));
    }
  }
}

// Entry p of the mean m at these points.
template <class S, int N>
__device__ Wide<S, N> mean_of(const Dimension<S>& f, const Shape& s, int p, const Points<N>& at) {
  if (!s.own_mean) return all<S, N>(f.mean[p]);
  return each<S, N>([&](int j) { return p < s.points ? f.mean[int64_t(p) * s.batch + at.b[j]] : S(0); });
}

// x_{t+1}'s standard deviation, and its derivatives by the whole variance and by what the inducing points leave unsaid.
template <class S, int N>
struct Spread {
  Wide<S, N> deviation, by_var, by_unsaid;
};

// k, a = W k, c = V'a and what follows for the variance.
template <class S, int N>
__device__ Spread<S, N> predict(const Dimension<S>& f, const Shape& s, Column<S, N> xu, const Wide<S, N>& eps,
                                Column<S, N> k, Column<S, N> a, Column<S, N> c) {
  const Share alone{0, 1};
  covariances(f, s, xu, alone, k);
  Wide<S, N> unsaid = all<S, N>(f.variance), said = {};
  lower_times(f.white, s.tiles(), k, alone, [&](int p, const Wide<S, N>& x) { a[p] = x, unsaid = unsaid - x * x; });
  if (s.spread) {
    transposed_times(f.spread, s.tiles(), a, alone, [&](int p, const Wide<S, N>& x) { c[p] = x, said += x * x; });
  }
  const Wide<S, N> deviation = root(at_least_zero(unsaid) + said + all<S, N>(f.process_var));
  const Wide<S, N> by_var = S(0.5) * (eps / deviation);
  return {deviation, by_var, where_positive(unsaid, by_var)};  // the floor of the variance passes no gradient
}

// The derivative of x_{t+1} by a; it may lie where a lies.
template <class S, int N>
__device__ void pull_to_a(const Dimension<S>& f, const Shape& s, const Points<N>& at, const Spread<S, N>& by,
                          Column<S, N> a, Column<S, N> c, Column<S, N> by_a) {
  auto direct = [&](int p) { return mean_of(f, s, p, at) - S(2) * (by.by_unsaid * a[p]); };
  if (s.spread) {
    lower_times(f.spread, s.tiles(), c, {0, 1}, [&](int p, const Wide<S, N>& x) {
      by_a[p] = direct(p) + S(2) * (by.by_var * x);
    });
  } else {
    for (int p = 0; p < s.padded(); ++p) by_a[p] = direct(p);
  }
}

// The derivative of x_{t+1} by log k.
template <class S, int N>
__device__ void pull_to_log_k(const Dimension<S>& f, const Shape& s, Column<S, N> k, Column<S, N> by_a,
                              Column<S, N> by_log_k) {
  transposed_times(f.white, s.tiles(), by_a, {0, 1}, [&](int q, const Wide<S, N>& x) { by_log_k[q] = x * k[q]; });
}

}  // namespace prssm
