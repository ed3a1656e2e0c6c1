// Brings the parameters into the records that the kernels read: one launch instead of a dozen.
#pragma once

#include "arrays.h"

namespace prssm {

constexpr int kLayOutThreads = 256;

// The parameters as Python has them, in the order of `ForEachArray` (arrays.py); R is their
// precision.
template <class R>
struct Parameters {
  const R *zeta, *precision, *variance, *white, *mean, *spread, *weight, *bias, *process_var;

  // Those of one latent dimension of one model.
  __device__ Parameters of(const Shape& s, int64_t index) const {
    const int64_t square = int64_t(s.points) * s.points;
    return {zeta + index * s.points * s.din(),
            precision + index * s.din(),
            variance + index,
            white + index * square,
            mean + index * s.points,
            spread + index * square,
            weight + index * s.din(),
            bias + index,
            process_var + index};
  }
};

// Grid (Dx, models).
template <class S, class R>
__global__ void __launch_bounds__(kLayOutThreads)
    lay_out(Shape s, Parameters<R> parameters, S* records) {
  const int64_t index = int64_t(blockIdx.y) * s.dx + blockIdx.x;
  const Parameters<R> f = parameters.of(s, index);
  const Places at(s);
  S* const record = records + index * at.size;
  const int P = s.points, din = s.din(), padded = s.padded();
  auto fill = [&](int first, int count, auto entry) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) record[first + i] = S(entry(i));
  };
  auto scaled = [&](int row, int i) {
    return row < P && i < din ? f.zeta[row * din + i] * f.precision[i] : R(0);
  };
  auto row_of = [&](int place) { return place / 4 % padded; };
  auto column_of = [&](int place) { return place / (4 * padded) * 4 + place % 4; };
  fill(at.zeta, padded * s.columns(), [&](int i) { return scaled(row_of(i), column_of(i)); });
  fill(at.zeta_scaled, padded * s.columns(), [&](int i) {
    const int column = column_of(i);
    return column < din ? scaled(row_of(i), column) * f.precision[column] : R(0);
  });
  fill(at.zeta_norm, padded, [&](int row) {
    R sum = 0;
    for (int i = 0; i < din; ++i) sum += scaled(row, i) * scaled(row, i);
    return R(0.5) * sum;
  });
  fill(at.scale, s.columns(), [&](int i) { return i < din ? f.precision[i] : R(0); });
  fill(at.weight, din, [&](int i) { return f.weight[i]; });
  if (!s.own_mean) fill(at.mean, padded, [&](int p) { return p < P ? f.mean[p] : R(0); });
  auto fill_triangle = [&](int first, bool upper, auto entry) {
    const Triangle<S> matrix{nullptr, s.tiles(), upper};
    for (int i = threadIdx.x; i < padded * padded; i += blockDim.x) {
      const int row = i / padded, column = i % padded;
      if (!matrix.has(row, column / 4)) continue;
      record[first + matrix.place(column / 4, row / 4) + 4 * (row % 4) + column % 4] =
          row < P && column < P ? S(entry(row, column)) : S(0);
    }
  };
  fill_triangle(at.white, false, [&](int row, int column) { return f.white[row * P + column]; });
  if (s.spread)
    fill_triangle(at.spread, true, [&](int row, int column) { return f.spread[column * P + row]; });
  if (threadIdx.x == 0) {
    record[at.variance] = S(*f.variance);
    record[at.process_var] = S(*f.process_var);
    record[at.bias] = S(*f.bias);
    for (int i = at.bias + 1; i < at.size; ++i) record[i] = 0;
  }
}

}  // namespace prssm
