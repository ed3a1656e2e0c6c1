// The arrays of a call on the GPU. All have an axis of models in front; within a model, time or the
// latent dimension leads and trajectories come last. Matrices are padded with zeros to multiples of
// four, so that one load brings four entries.
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

// Walks along a row of a matrix, four columns at a time; the next three rows lie behind it, four
// numbers apart.
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
  __device__ const S* column(int quad, int tile) const {
    return first + 4 * (quad * rows + 4 * tile);
  }
};

// The same of a triangular matrix, of which only the tiles of four by four that are not all zero
// are there.
template <class S>
struct Triangle {
  const S* first;
  int tiles;
  bool upper;
  __device__ bool has(int p, int quad) const {
    return p < 4 * tiles && (upper ? p / 4 <= quad : p / 4 >= quad);
  }
  __device__ int row_begin(int tile) const { return upper ? tile : 0; }
  __device__ int row_end(int tile) const { return upper ? tiles : tile + 1; }
  __device__ int column_begin(int quad) const { return upper ? 0 : quad; }
  __device__ int column_end(int quad) const { return upper ? quad + 1 : tiles; }

  // Row p from the tile `quad` on.
  __device__ Row<S> row(int p, int quad) const {
    return {column(quad, 0) + 4 * p, upper ? 16 * (quad + 1) : 16 * (tiles - quad - 1),
            upper ? 16 : -16};
  }
  __device__ int place(int quad, int tile) const {
    return (upper ? 8 * quad * (quad + 1) : 16 * quad * tiles - 8 * quad * (quad + 1)) + 16 * tile;
  }
  __device__ const S* column(int quad, int tile) const { return first + place(quad, tile); }
};

struct Shape {
  int dx, du, points, steps, batch;
  bool spread, own_mean;  // V is there; each trajectory has its own m
  __host__ __device__ int din() const { return dx + du; }
  __host__ __device__ int tiles() const { return (points + 3) / 4; }
  __host__ __device__ int padded() const { return 4 * tiles(); }
  __host__ __device__ int triangle() const { return tiles() * (tiles() + 1) / 2; }
  __host__ __device__ int quads() const { return din() / 4 + 1; }
  __host__ __device__ int columns() const {
    return 4 * quads();
  }  // of inputs, with a place for a one
};

// One latent dimension. zeta' and xu' are divided by the length scales; k = variance exp(-|zeta' -
// xu'|^2 / 2).
template <class S>
struct Dimension {
  Matrix<S> zeta;         // (padded, columns) zeta'
  Matrix<S> zeta_scaled;  // the same divided by the length scales once more, so that it meets the
                          // inputs as they are
  Triangle<S> white;      // (padded, padded) W
  Triangle<S> spread;     // (padded, padded) V'
  const S* zeta_norm;     // (padded) |zeta'|^2 / 2
  const S* scale;         // (columns) 1 / lengthscale, then zeros
  const S* mean;          // (padded) m, or (P, B) where each trajectory has its own
  const S* weight;        // (Din) row of A
  S variance, process_var, bias;
};

// Where the parts of a record lie: all that the recursion reads of one latent dimension of one
// model (lay_out.h). Every part that is read by fours begins at a multiple of four.
struct Places {
  int zeta, zeta_scaled, white, spread, zeta_norm, scale, mean, weight, variance, process_var, bias,
      size;
  __host__ __device__ explicit Places(const Shape& s) {
    const int inputs = s.padded() * s.columns(), square = 16 * s.triangle();
    zeta = 0;
    zeta_scaled = inputs;
    white = 2 * inputs;
    spread = white + square;
    zeta_norm = spread + (s.spread ? square : 0);
    scale = zeta_norm + s.padded();
    mean = scale + s.columns();
    weight = mean + (s.own_mean ? 0 : s.padded());
    variance = weight + s.din();
    process_var = variance + 1;
    bias = process_var + 1;
    size = (bias + 1 + 3) / 4 * 4;
  }
};

// The records of all models, and (models, Dx, P, B) the means where each trajectory has its own.
template <class S>
struct Given {
  const S *records, *own_mean;

  __device__ Dimension<S> dimension(const Shape& s, int64_t model, int d) const {
    const Places at(s);
    const int64_t index = model * s.dx + d;
    const S* const record = records + index * at.size;
    return {{record + at.zeta, s.padded()},
            {record + at.zeta_scaled, s.padded()},
            {record + at.white, s.tiles(), false},
            {record + at.spread, s.tiles(), true},
            record + at.zeta_norm,
            record + at.scale,
            s.own_mean ? own_mean + index * s.points * s.batch : record + at.mean,
            record + at.weight,
            record[at.variance],
            record[at.process_var],
            record[at.bias]};
  }
};

}  // namespace prssm
