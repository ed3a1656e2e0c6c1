// Products of small packed matrices with many trajectories at once: the whole arithmetic of a step,
// but for the exponential.
#pragma once

#include "kernel.h"
#include "lanes.h"

namespace {

using prssm::kTile;

constexpr int64_t kSlots = 8;  // steps whose outer products are added at once, at most

// The products are not inlined: each then has all registers to itself.

// M x for a lower triangular M packed by rows.
template <class S>
[[gnu::noinline]] void lower_times(const S* packed, const Wide<S>* x, int64_t tiles, Wide<S>* out) {
  for (int64_t tile = 0; tile < tiles; ++tile, out += kTile) {
    Wide<S> row[kTile] = {all(S(0)), all(S(0)), all(S(0)), all(S(0))};
    for (int64_t q = 0; q < kTile * (tile + 1); ++q, packed += kTile) {
#pragma GCC unroll 4
      for (int r = 0; r < kTile; ++r) row[r] += x[q] * packed[r];
    }
#pragma GCC unroll 4
    for (int r = 0; r < kTile; ++r) out[r] = row[r];
  }
}

// M' x for a lower triangular M packed by columns.
template <class S>
[[gnu::noinline]] void transposed_times(const S* packed, const Wide<S>* x, int64_t tiles,
                                        Wide<S>* out) {
  for (int64_t tile = 0; tile < tiles; ++tile, out += kTile) {
    Wide<S> row[kTile] = {all(S(0)), all(S(0)), all(S(0)), all(S(0))};
    for (int64_t p = kTile * tile; p < kTile * tiles; ++p, packed += kTile) {
#pragma GCC unroll 4
      for (int r = 0; r < kTile; ++r) row[r] += x[p] * packed[r];
    }
#pragma GCC unroll 4
    for (int r = 0; r < kTile; ++r) out[r] = row[r];
  }
}

// out += M x for any M packed by rows.
template <class S>
[[gnu::noinline]] void add_times(const S* packed, const Wide<S>* x, int64_t columns, int64_t tiles,
                                 Wide<S>* out) {
  for (int64_t tile = 0; tile < tiles; ++tile, out += kTile) {
    Wide<S> row[kTile] = {out[0], out[1], out[2], out[3]};
    for (int64_t q = 0; q < columns; ++q, packed += kTile) {
#pragma GCC unroll 4
      for (int r = 0; r < kTile; ++r) row[r] += x[q] * packed[r];
    }
#pragma GCC unroll 4
    for (int r = 0; r < kTile; ++r) out[r] = row[r];
  }
}

// sum[column][row] += rows x columns over all steps that are waiting; lanes stay apart. Columns
// come in pairs.
template <class S>
[[gnu::noinline]] void add_outer(const Wide<S>* rows, int64_t row_stride, const Wide<S>* columns,
                                 int64_t column_stride, int64_t count, int64_t slots,
                                 typename Register<S>::Vector* sum) {
  using Vector = typename Register<S>::Vector;
  for (int64_t q = 0; q < count; q += 2, sum += 2 * kTile) {
    Vector left[kTile], right[kTile];
#pragma GCC unroll 4
    for (int r = 0; r < kTile; ++r) {
      left[r] = sum[r];
      right[r] = sum[kTile + r];
    }
    const Wide<S>*row = rows, *column = columns + q;
    for (int64_t slot = 0; slot < slots; ++slot, row += row_stride, column += column_stride) {
#pragma GCC unroll 2
      for (int j = 0; j < 2; ++j) {
        const Vector first = column[0].part[j], second = column[1].part[j];
#pragma GCC unroll 4
        for (int r = 0; r < kTile; ++r) {
          const Vector here = row[r].part[j];
          left[r] += here * first;
          right[r] += here * second;
        }
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < kTile; ++r) {
      sum[r] = left[r];
      sum[kTile + r] = right[r];
    }
  }
}

// out = 2^(norm - |zeta'|^2 + 2 zeta' x): the correlation of every inducing input with x, whose
// squared length is -norm.
template <class S>
[[gnu::noinline]] void correlations(const prssm::Dimension<S>& k, Wide<S> norm, const Wide<S>* x,
                                    int64_t din, int64_t tiles, Wide<S>* out) {
  const S* zeta = k.twice_zeta;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    Wide<S> row[kTile];
#pragma GCC unroll 4
    for (int r = 0; r < kTile; ++r) row[r] = norm - k.zeta_norm[tile * kTile + r];
    for (int64_t i = 0; i < din; ++i, zeta += kTile) {
#pragma GCC unroll 4
      for (int r = 0; r < kTile; ++r) row[r] += x[i] * zeta[r];
    }
#pragma GCC unroll 4
    for (int r = 0; r < kTile; ++r) out[tile * kTile + r] = row[r];
  }
  for (int64_t p = 0; p < kTile * tiles; ++p) out[p] = power_of_two(out[p]);
}

// x'y over `count` rows, a multiple of four, in four sums at a time: one would wait for each
// addition.
template <class S>
[[gnu::noinline]] Wide<S> dot(const Wide<S>* x, const Wide<S>* y, int64_t count) {
  Wide<S> sum[kTile] = {all(S(0)), all(S(0)), all(S(0)), all(S(0))};
  for (int64_t p = 0; p < count; p += kTile) {
#pragma GCC unroll 4
    for (int r = 0; r < kTile; ++r) sum[r] += x[p + r] * y[p + r];
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

}  // namespace
