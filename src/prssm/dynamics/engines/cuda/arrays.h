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

// Walks along a row of a matrix, four columns at a time; the next three rows lie behind it, four numbers apart.
template <class S>
struct Row {
  const S* at;
  int step, change;
  __device__ void next() { at += step, step += change; }
};

// A matrix, four columns after the other, so that threads that take one row each read together.
template <class S>
struct Matrix {
  const S* first;
  int rows;
  __device__ bool has(int p, int) const { return p < rows; }
  __device__ Row<S> row(int p, int) const { return {first + 4 * p, 4 * rows, 0}; }
  __device__ const S* column(int quad, int tile) const { return first + 4 * (quad * rows + 4 * tile); }
};

// The same of a triangular matrix, of which only the tiles of four by four that are not all zero are there.
template <class S>
struct Triangle {
  const S* first;
  int tiles;
  bool upper;
  __device__ bool has(int p, int quad) const { return p < 4 * tiles && (upper ? p / 4 <= quad : p / 4 >= quad); }
  __device__ int row_begin(int tile) const { return upper ? tile : 0; }
  __device__ int row_end(int tile) const { return upper ? tiles : tile + 1; }
  __device__ int column_begin(int quad) const { return upper ? 0 : quad; }
  __device__ int column_end(int quad) const { return upper ? quad + 1 : tiles; }

  // Row p from the tile `quad` on.
  __device__ Row<S> row(int p, int quad) const {
    return {column(quad, 0) + 4 * p, upper ? 16 * (quad + 1) : 16 * (tiles - quad - 1), upper ? 16 : -16};
  }
  __device__ const S* column(int quad, int tile) const {
    return first + (upper ? 8 * quad * (quad + 1) : 16 * quad * tiles - 8 * quad * (quad + 1)) + 16 * tile;
  }
};

struct Shape {
  int dx, du, points, steps, batch;
  bool spread, own_mean;  // V is there; each trajectory has its own m
  __host__ __device__ int din() const { return dx + du; }
  __host__ __device__ int tiles() const { return (points + 3) / 4; }
  __host__ __device__ int padded() const { return 4 * tiles(); }
  __host__ __device__ int triangle() const { return tiles() * (tiles() + 1) / 2; }
  __host__ __device__ int quads() const { return din() / 4 + 1; }
  __host__ __device__ int columns() const { return 4 * quads(); }  // of inputs, with a place for a one
};

// One latent dimension. zeta' and xu' are divided by the length scales; k = variance exp(-|zeta' - xu'|^2 / 2).
template <class S>
struct Dimension {
  Matrix<S> zeta;         // (padded, columns) zeta'
  Matrix<S> zeta_scaled;  // the same divided by the length scales once more, so that it meets the inputs as they are
  Triangle<S> white;      // (padded, padded) W
  Triangle<S> spread;     // (padded, padded) V'
  const S* zeta_norm;     // (padded) |zeta'|^2 / 2
  const S* scale;         // (columns) 1 / lengthscale, then zeros
  const S* mean;          // (padded) m, or (P, B) where each trajectory has its own
  const S* weight;        // (Din) row of A
  S variance, process_var, bias;
};

// The arguments as they come; Python lays them out (engine.py).
template <class S>
struct Given {
  const S *zeta, *zeta_scaled, *zeta_norm, *scale, *white, *spread, *mean, *weight, *variance, *process_var, *bias;

  __device__ Dimension<S> dimension(const Shape& s, int64_t model, int d) const {
    const int64_t at = model * s.dx + d, inputs = at * s.padded() * s.columns(), square = at * 16 * s.triangle();
    const int64_t mean_size = s.own_mean ? int64_t(s.points) * s.batch : s.padded();
    return {{zeta + inputs, s.padded()}, {zeta_scaled + inputs, s.padded()}, {white + square, s.tiles(), false},
            {spread + square, s.tiles(), true},
            zeta_norm + at * s.padded(), scale + at * s.columns(), mean + at * mean_size, weight + at * s.din(),
            variance[at], process_var[at], bias[at]};
  }
};

}  // namespace prssm
