// From a model's parameters to the packed form of the kernel, and from the kernel's sums to
// parameter gradients. Everything here is in double precision and costs O(Dx P^3) once a call.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernel.h"

namespace prssm {

// Parameters or their gradients, as arrays whose latent dimension leads (also of what all
// dimensions share: then they hold copies). `spread` and a `mean` that differs between trajectories
// are empty.
struct Parameters {
  std::vector<double> zeta, precision, variance, white, mean, spread, weight, bias, process_var;
  std::vector<double> neuron_out, neuron_weight,
      neuron_bias;  // (Dx, H), (H, Din), (H); empty where the mean is affine
};

inline Parameters zeros_like(const Parameters& like) {
  auto zeros = [](const std::vector<double>& values) {
    return std::vector<double>(values.size(), 0.0);
  };
  return {zeros(like.zeta),       zeros(like.precision),     zeros(like.variance),
          zeros(like.white),      zeros(like.mean),          zeros(like.spread),
          zeros(like.weight),     zeros(like.bias),          zeros(like.process_var),
          zeros(like.neuron_out), zeros(like.neuron_weight), zeros(like.neuron_bias)};
}

struct Shape {
  int64_t dx, du, points;
  bool spread, own_mean, shared;
  int64_t neurons = 0;
  int64_t sets() const { return shared ? 1 : dx; }  // of kernel and inducing inputs
  int64_t din() const { return dx + du; }
  int64_t tiles() const { return tiles_of(points); }
};

inline const double kScale =
    std::sqrt(0.5 * std::log2(std::exp(1.0)));  // exp(-r^2 / 2) = 2^-(kScale r)^2

// A model in the kernel's form, with the memory it lies in.
template <class S>
class PackedModel {
 public:
  PackedModel(const Shape& shape, const Parameters& given)
      : shape_(shape), dimension_(static_cast<size_t>(shape.dx)) {
    const int64_t tiles = shape.tiles(), padded = kTile * tiles, din = shape.din();
    const int64_t each = 2 * din + padded * din + 2 * padded + 4 * triangle(tiles);
    memory_.assign(static_cast<size_t>(each * shape.dx + layer_size()), S(0));
    S* free = memory_.data();
    for (int64_t d = 0; d < shape.dx; ++d) free = pack(d, given, free);
    pack_layer(given, free);
  }

  Model<S> model() const {
    return {shape_.dx,       shape_.du,     shape_.points,     shape_.tiles(), shape_.spread,
            shape_.own_mean, shape_.shared, dimension_.data(), layer_};
  }

 private:
  int64_t layer_size() const {
    const int64_t H = shape_.neurons;
    return kTile * (tiles_of(H) * (shape_.din() + 1 + shape_.dx) +
                    (tiles_of(shape_.dx) + tiles_of(shape_.din())) * H);
  }

  void pack_layer(const Parameters& given, S* free) {
    const int64_t dx = shape_.dx, din = shape_.din(), H = shape_.neurons;
    auto weight = [&](int64_t k, int64_t i) { return given.neuron_weight[k * din + i]; };
    auto out = [&](int64_t d, int64_t k) { return given.neuron_out[d * H + k]; };
    layer_.neurons = H;
    layer_.weight = pack_rows(H, din, free, weight);
    layer_.bias = pack_rows(H, 1, free, [&](int64_t k, int64_t) { return given.neuron_bias[k]; });
    layer_.out = pack_rows(dx, H, free, out);
    layer_.weight_back =
        pack_rows(din, H, free, [&](int64_t i, int64_t k) { return weight(k, i); });
    layer_.out_back = pack_rows(H, dx, free, [&](int64_t k, int64_t d) { return out(d, k); });
  }

  // A matrix in tiles of its rows, in the memory that is free.
  template <class Entry>
  static const S* pack_rows(int64_t rows, int64_t columns, S*& free, Entry entry) {
    S* packed = free;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t i = 0; i < columns; ++i)
        packed[(row / kTile * columns + i) * kTile + row % kTile] = S(entry(row, i));
    }
    free += kTile * tiles_of(rows) * columns;
    return packed;
  }

  S* pack(int64_t d, const Parameters& given, S* free) {
    const int64_t P = shape_.points, tiles = shape_.tiles(), padded = kTile * tiles,
                  din = shape_.din();
    auto take = [&free](int64_t count) {
      S* taken = free;
      free += count;
      return taken;
    };
    S *scale = take(din), *weight = take(din), *zeta = take(padded * din), *norm = take(padded),
      *mean = take(padded);
    S *white_rows = take(triangle(tiles)), *white_cols = take(triangle(tiles));
    S *spread_rows = take(triangle(tiles)), *spread_cols = take(triangle(tiles));
    for (int64_t i = 0; i < din; ++i) {
      scale[i] = S(kScale * given.precision[d * din + i]);
      weight[i] = S(given.weight[d * din + i]);
    }
    for (int64_t p = 0; p < P; ++p) {
      double square = 0.0;
      for (int64_t i = 0; i < din; ++i) {
        const double z = kScale * given.precision[d * din + i] * given.zeta[(d * P + p) * din + i];
        zeta[(p / kTile * din + i) * kTile + p % kTile] = S(2.0 * z);
        square += z * z;
      }
      norm[p] = S(square);
      if (!shape_.own_mean) mean[p] = S(given.mean[d * P + p]);
    }
    pack_lower(&given.white[d * P * P], given.variance[d], white_rows, white_cols);
    if (shape_.spread) pack_lower(&given.spread[d * P * P], 1.0, spread_rows, spread_cols);
    dimension_[d] = {scale,
                     zeta,
                     norm,
                     white_rows,
                     white_cols,
                     spread_rows,
                     spread_cols,
                     mean,
                     weight,
                     S(given.variance[d]),
                     S(given.process_var[d]),
                     S(given.bias[d])};
    return free;
  }

  // The lower triangle of `matrix`, times `factor`, in the two orders in which it is read.
  void pack_lower(const double* matrix, double factor, S* rows, S* cols) const {
    const int64_t P = shape_.points, tiles = shape_.tiles();
    auto entry = [&](int64_t p, int64_t q) {
      return p < P && q <= p ? S(factor * matrix[p * P + q]) : S(0);
    };
    for (int64_t tile = 0; tile < tiles; ++tile) {
      for (int64_t q = 0; q < kTile * (tile + 1); ++q) {
        for (int64_t r = 0; r < kTile; ++r) *rows++ = entry(kTile * tile + r, q);
      }
      for (int64_t p = kTile * tile; p < kTile * tiles; ++p) {
        for (int64_t r = 0; r < kTile; ++r) *cols++ = entry(p, kTile * tile + r);
      }
    }
  }

  Shape shape_;
  std::vector<S> memory_;
  std::vector<Dimension<S>> dimension_;
  Layer<S> layer_{};
};

}  // namespace prssm
