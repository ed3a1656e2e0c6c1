// The arrays of a call on the GPU. All have an axis of models in front; within a model, time or the latent dimension leads
// and trajectories come last. Matrices are padded with zeros to multiples of four, so that one load brings four entries.
#pragma once

#include <cstdint>

#include "device.h"

namespace prssm {

template <class S>
struct alignas(4 * sizeof(S)) Four {
  S v[4];
};

template <class S>
__device__ const Four<S>& four(const S* first) {
  return *reinterpret_cast<const Four<S>*>(first);
}

// A matrix in tiles of four by four; the four numbers of a row of a tile lie together.
template <class S>
struct Tiled {
  const S* first;
  int by_tile, by_row, by_quad;  // steps from a tile to the one below, from row to row, from a tile to the one at its right

  // Rows one after the other.
  __device__ static Tiled by_rows(const S* first, int quads) { return {first, 16 * quads, 4 * quads, 4}; }
  // Neighbours are tiles that lie below each other: threads that take one tile of rows each read together.
  __device__ static Tiled interleaved(const S* first, int tiles) { return {first, 4, 4 * tiles, 16 * tiles}; }

  __device__ const Four<S>& operator()(int tile, int row, int quad) const {
    return four(first + tile * by_tile + row * by_row + quad * by_quad);
  }
};

struct Shape {
  int dx, du, points, steps, batch;
  bool spread, own_mean;  // V is there; each trajectory has its own m
  __host__ __device__ int din() const { return dx + du; }
  __host__ __device__ int tiles() const { return (points + 3) / 4; }
  __host__ __device__ int padded() const { return 4 * tiles(); }
  __host__ __device__ int quads() const { return din() / 4 + 1; }
  __host__ __device__ int columns() const { return 4 * quads(); }  // of inputs, with a place for a one
};

// One latent dimension. zeta' and xu' are divided by the length scales; k = variance exp(-|zeta' - xu'|^2 / 2).
template <class S>
struct Dimension {
  Tiled<S> zeta;         // (padded, columns) zeta'
  Tiled<S> zeta_scaled;  // the same divided by the length scales once more, so that it meets the inputs as they are
  Tiled<S> white;        // (padded, padded) W
  Tiled<S> spread;       // (padded, padded) V
  const S* zeta_norm;    // (padded) |zeta'|^2 / 2
  const S* scale;        // (Din) 1 / lengthscale
  const S* mean;         // (padded) m, or (P, B) where each trajectory has its own
  const S* weight;       // (Din) row of A
  S variance, process_var, bias;
};

// The arguments as they come; Python lays them out (engine.py).
template <class S>
struct Given {
  const S *zeta, *zeta_scaled, *zeta_norm, *scale, *white, *spread, *mean, *weight, *variance, *process_var, *bias;

  __device__ Dimension<S> dimension(const Shape& s, int64_t model, int d) const {
    const int64_t at = model * s.dx + d, inputs = at * s.padded() * s.columns(), square = at * s.padded() * s.padded();
    const int64_t mean_size = s.own_mean ? int64_t(s.points) * s.batch : s.padded();
    using Matrix = Tiled<S>;
    return {Matrix::by_rows(zeta + inputs, s.quads()), Matrix::interleaved(zeta_scaled + inputs, s.tiles()),
            Matrix::interleaved(white + square, s.tiles()), Matrix::by_rows(spread + square, s.tiles()),
            zeta_norm + at * s.padded(), scale + at * s.din(), mean + at * mean_size, weight + at * s.din(),
            variance[at], process_var[at], bias[at]};
  }
};

}  // namespace prssm
