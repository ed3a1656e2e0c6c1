// What a thread computes of its points (x_t, u_t) for one latent dimension. docs/adjoint.md has the
// mathematics and names.
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

// The share of a warp, where several work on the same points. Of tiles that cost the same it takes
// every `warps`-th; the last warps begin, as the first ones get the dearest tiles of triangles.
struct Share {
  int warp, warps;
  __device__ int first() const { return warps - 1 - warp; }

  // work(tile) of a triangle: from the dearest tile on, there and back, so that all warps have
  // about as much to do.
  template <class Work>
  __device__ void of_triangle(int tiles, bool dearest_first, Work work) const {
    for (int round = 0; round * warps < tiles; ++round) {
      const int turn = round * warps + (round % 2 == 0 ? warp : first());
      if (turn < tiles) work(dearest_first ? turn : tiles - 1 - turn);
    }
  }
};

// sum_r += sum_i M_ri x_i for the four rows of a tile and the columns of the tiles from `begin` to
// `end`.
template <class S, int N, class M>
__device__ void add_rows(const M& matrix, int tile, Column<S, N> x, int begin, int end,
                         Wide<S, N>* sum) {
  Row<S> row = matrix.row(4 * tile, begin);
#pragma unroll 2
  for (int quad = begin; quad < end; ++quad, row.next()) {
    const Wide<S, N> here[4] = {x[4 * quad], x[4 * quad + 1], x[4 * quad + 2], x[4 * quad + 3]};
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const Four<S> entries = four(row.at + 4 * r);
#pragma unroll
      for (int l = 0; l < 4; ++l) sum[r] += entries.v[l] * here[l];
    }
  }
}

// sum_l += sum_p M_pl x_p for four columns and the rows of the tiles from `begin` to `end`.
template <class S, int N, class M>
__device__ void add_columns(const M& matrix, int quad, Column<S, N> x, int begin, int end,
                            Wide<S, N>* sum) {
  const S* column = matrix.column(quad, begin);
#pragma unroll 2
  for (int tile = begin; tile < end; ++tile, column += 16) {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const Four<S> entries = four(column + 4 * r);
      const Wide<S, N> here = x[4 * tile + r];
#pragma unroll
      for (int l = 0; l < 4; ++l) sum[l] += entries.v[l] * here;
    }
  }
}

// use(p, (M x)_p).
template <class S, int N, class Use>
__device__ void times(const Triangle<S>& matrix, Column<S, N> x, Share share, Use use) {
  share.of_triangle(matrix.tiles, matrix.upper, [&](int tile) {
    Wide<S, N> sum[4] = {};
    add_rows(matrix, tile, x, matrix.row_begin(tile), matrix.row_end(tile), sum);
#pragma unroll
    for (int r = 0; r < 4; ++r) use(4 * tile + r, sum[r]);
  });
}

// use(q, (M' x)_q).
template <class S, int N, class Use>
__device__ void transposed_times(const Triangle<S>& matrix, Column<S, N> x, Share share, Use use) {
  share.of_triangle(matrix.tiles, !matrix.upper, [&](int quad) {
    Wide<S, N> sum[4] = {};
    add_columns(matrix, quad, x, matrix.column_begin(quad), matrix.column_end(quad), sum);
#pragma unroll
    for (int l = 0; l < 4; ++l) use(4 * quad + l, sum[l]);
  });
}

// k_p = k(zeta_p, xu), the square of the distance multiplied out.
template <class S, int N>
__device__ void covariances(const Dimension<S>& f, const Shape& s, Column<S, N> xu, Share share,
                            Column<S, N> k) {
  Wide<S, N> norm = {};
  for (int i = 0; i < s.din(); ++i) {
    const Wide<S, N> scaled = f.scale[i] * xu[i];
    norm += S(0.5) * (scaled * scaled);
  }
  for (int tile = share.first(); tile < s.tiles(); tile += share.warps) {
    Wide<S, N> product[4] = {};
    add_rows(f.zeta_scaled, tile, xu, 0, s.quads(), product);
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      k[4 * tile + r] =
          f.variance * at_most_one_exp(product[r] - norm - all<S, N>(f.zeta_norm[4 * tile + r]));
    }
  }
}

// Entry p of the mean m at these points.
template <class S, int N>
__device__ Wide<S, N> mean_of(const Dimension<S>& f, const Shape& s, int p, const Points<N>& at) {
  if (!s.own_mean) return all<S, N>(f.mean[p]);
  return each<S, N>(
      [&](int j) { return p < s.points ? f.mean[int64_t(p) * s.batch + at.b[j]] : S(0); });
}

// x_{t+1}'s standard deviation, and its derivatives by the whole variance and by what the inducing
// points leave unsaid.
template <class S, int N>
struct Spread {
  Wide<S, N> deviation, by_var, by_unsaid;
};

template <class S, int N>
__device__ Spread<S, N> spread_of(const Dimension<S>& f, const Wide<S, N>& squares,
                                  const Wide<S, N>& said, const Wide<S, N>& eps) {
  const Wide<S, N> unsaid = all<S, N>(f.variance) - squares;
  const Wide<S, N> deviation = root(at_least_zero(unsaid) + said + all<S, N>(f.process_var));
  const Wide<S, N> by_var = S(0.5) * (eps / deviation);
  return {deviation, by_var,
          where_positive(unsaid, by_var)};  // the floor of the variance passes no gradient
}

}  // namespace prssm
