// The gradients of the parameters from the sums over points: docs/adjoint.md has the formulas.
#pragma once

#include "gradients.h"
#include "lay_out.h"

namespace prssm {

constexpr int kSumRows = 8;  // warps of a block that share the slices
constexpr int kFinishThreads = 256;

// Grid (blocks of 32 sums, models): the sum over all slices, in the precision of the parameters.
template <class S, class R>
__global__ void __launch_bounds__(kWarp* kSumRows)
    add_slices(int slices, int size, const S* parts, R* sums) {
  R* const partial = shared_memory<R>();
  const int row = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, at = blockIdx.x * kWarp + lane;
  const S* const first = parts + int64_t(blockIdx.y) * slices * size + at;
  R sum = 0;
  if (at < size) {
#pragma unroll 8
    for (int slice = row; slice < slices; slice += kSumRows) sum += R(first[int64_t(slice) * size]);
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  if (row != 0 || at >= size) return;
  for (int other = 1; other < kSumRows; ++other) sum += partial[other * kWarp + lane];
  sums[int64_t(blockIdx.y) * size + at] = sum;
}

// What the sums of one latent dimension say, as `Products` orders them.
template <class R>
struct Sums {
  const R* tiles;
  const R* rest;  // of xu_i^2 times all w, of g by_var, of g by_unsaid
  Products products;
  int quads;

  __device__ Sums(const Shape& s, const R* first)
      : tiles(first), rest(first + 16 * Products(s).count()), products(s), quads(s.quads()) {}
  __device__ R entry(int tile, int row, int column) const {
    return tiles[16 * tile + 4 * (row % 4) + column % 4];
  }
  __device__ R lower(int first, int row, int column) const {
    return column > row ? R(0)
                        : entry(first + row / 4 * (row / 4 + 1) / 2 + column / 4, row, column);
  }
  __device__ R spread(int row, int column) const { return lower(0, row, column); }
  __device__ R mean(int p) const { return entry(products.spread + p / 4, p, 0); }
  __device__ R affine(int i) const { return entry(products.spread + products.mean + i / 4, 0, i); }
  __device__ R white(int row, int column) const {
    return lower(products.before_white(), row, column);
  }
  // Of w_p times xu_i; a one follows the inputs.
  __device__ R inputs(int p, int i) const {
    return entry(products.before_white() + products.white + p / 4 * quads + i / 4, p, i);
  }
};

// Gradients of one latent dimension; names and shapes are those of the parameters.
template <class R>
struct Slopes {
  R *zeta, *precision, *variance, *white, *mean, *spread, *weight, *bias, *process_var;
};

// Grid (Dx, models).
template <class R>
__global__ void __launch_bounds__(kFinishThreads)
    finish(Shape s, Parameters<R> parameters, const R* sums, Slopes<R> slopes) {
  const int64_t index = int64_t(blockIdx.y) * s.dx + blockIdx.x;
  const int P = s.points, din = s.din();
  const Sums<R> sum(s, sums + index * sums_size(s));
  const R *zeta = parameters.zeta + index * P * din,
          *precision = parameters.precision + index * din;
  auto fill = [&](int count, R* result, auto entry) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) result[index * count + i] = entry(i);
  };
  fill(P * P, slopes.white, [&](int i) { return sum.white(i / P, i % P); });
  if (s.spread) fill(P * P, slopes.spread, [&](int i) { return sum.spread(i / P, i % P); });
  if (!s.own_mean) fill(P, slopes.mean, [&](int p) { return sum.mean(p); });
  fill(P * din, slopes.zeta, [&](int at) {
    const int p = at / din, i = at % din;
    return precision[i] * precision[i] * (sum.inputs(p, i) - zeta[at] * sum.inputs(p, din));
  });
  fill(din, slopes.weight, [&](int i) { return sum.affine(i); });
  fill(din, slopes.precision, [&](int i) {
    R total = sum.rest[i];
    for (int p = 0; p < P; ++p) {
      const R here = zeta[p * din + i];
      total += here * here * sum.inputs(p, din) - R(2) * here * sum.inputs(p, i);
    }
    return -precision[i] * total;
  });
  fill(1, slopes.bias, [&](int) { return sum.affine(din); });
  fill(1, slopes.process_var, [&](int) { return sum.rest[din]; });
  fill(1, slopes.variance, [&](int) {
    R total = 0;
    for (int p = 0; p < P; ++p) total += sum.inputs(p, din);
    return total / parameters.variance[index] + sum.rest[din + 1];
  });
}

}  // namespace prssm
