// The gradients of the parameters from the sums that the backward pass has collected
// (docs/adjoint.md).
#pragma once

#include <vector>

#include "parameters.h"

namespace prssm {

// Those of one latent dimension.
class DimensionGradient {
 public:
  DimensionGradient(const Shape& shape, const Sums& at, const Parameters& given, const double* sums,
                    int64_t d)
      : shape_(shape), at_(at), given_(given), sums_(sums), d_(d), P_(shape.points) {}

  void write(Parameters& g) const {
    write_inputs(g);
    write_covariances(g);
    const int64_t din = shape_.din();
    for (int64_t i = 0; i < din; ++i) g.weight[d_ * din + i] = sums_[at_.weight + i];
    g.bias[d_] = sums_[at_.g_sum];
    g.process_var[d_] = sums_[at_.g_var];
  }

 private:
  using Matrix = std::vector<double>;

  // zeta, length scales and signal variance, all through w = k d loss / d k.
  void write_inputs(Parameters& g) const {
    const int64_t din = shape_.din(), columns = moment_columns(din);
    auto moment = [&](int64_t p, int64_t i) {
      return sums_[at_.moments + (p / kTile * columns + i) * kTile + p % kTile];
    };
    double w_total = 0.0;
    for (int64_t p = 0; p < P_; ++p) w_total += moment(p, din);
    for (int64_t i = 0; i < din; ++i) {
      const double precision = given_.precision[d_ * din + i];
      double square = sums_[at_.squares + i];  // becomes the sum of w (zeta - x)^2
      for (int64_t p = 0; p < P_; ++p) {
        const double zeta = given_.zeta[(d_ * P_ + p) * din + i], w = moment(p, din),
                     wx = moment(p, i);
        g.zeta[(d_ * P_ + p) * din + i] = -precision * precision * (zeta * w - wx);
        square += zeta * (zeta * w - 2.0 * wx);
      }
      g.precision[d_ * din + i] = -precision * square;
    }
    g.variance[d_] = w_total / given_.variance[d_] + sums_[at_.g_unsaid];
  }

  // dL/dm = n,  dL/dV = 2 M V,  dL/dW = (N + 2 V V' M - 2 M_unsaid) L', lower triangles only.
  void write_covariances(Parameters& g) const {
    const Matrix unsaid = symmetric(at_.said, at_.said), all = symmetric(at_.said, at_.floored);
    const double* V = shape_.spread ? &given_.spread[d_ * P_ * P_] : nullptr;
    Matrix g_a_a(P_ * P_);  // sum of dL/da a'
    for (int64_t p = 0; p < P_; ++p) {
      for (int64_t q = 0; q <= p; ++q)
        g_a_a[p * P_ + q] = mean_slope(p, q) - 2.0 * unsaid[p * P_ + q];
    }
    if (V != nullptr) {
      const Matrix product = upper_times(V, all);
      for (int64_t p = 0; p < P_; ++p) {
        for (int64_t s = 0; s <= p; ++s)
          add_row(2.0 * V[p * P_ + s], &product[s * P_], p + 1, &g_a_a[p * P_]);
        double* g_spread = &g.spread[d_ * P_ * P_ + p * P_];
        for (int64_t s = 0; s < P_; ++s)
          add_row(2.0 * all[p * P_ + s], V + s * P_, s < p ? s + 1 : p + 1, g_spread);
      }
    }
    if (!shape_.own_mean) {
      for (int64_t p = 0; p < P_; ++p) g.mean[d_ * P_ + p] = sums_[at_.slope + p];
    }
    const Matrix L = inverse(&given_.white[d_ * P_ * P_]);
    for (int64_t p = 0; p < P_; ++p) {
      for (int64_t q = 0; q <= p; ++q) {
        double sum = 0.0;
        for (int64_t r = 0; r <= q; ++r) sum += g_a_a[p * P_ + r] * L[q * P_ + r];
        g.white[d_ * P_ * P_ + p * P_ + q] = sum;
      }
    }
  }

  // Entry (p, q) of the sum of m g a'.
  double mean_slope(int64_t p, int64_t q) const {
    if (shape_.own_mean) return sums_[at_.cross + p * kTile * shape_.tiles() + q];
    return given_.mean[d_ * P_ + p] * sums_[at_.slope + q];
  }

  // A sum of outer products a a' from its lower tiles; of two such sums where `first` and `second`
  // differ.
  Matrix symmetric(int64_t first, int64_t second) const {
    Matrix full(P_ * P_);
    for (int64_t p = 0; p < P_; ++p) {
      for (int64_t q = 0; q <= p; ++q) {
        const int64_t entry = triangle(p / kTile) + q * kTile + p % kTile;
        full[p * P_ + q] = full[q * P_ + p] =
            sums_[first + entry] + (first == second ? 0.0 : sums_[second + entry]);
      }
    }
    return full;
  }

  static void add_row(double factor, const double* from, int64_t count, double* to) {
    for (int64_t i = 0; i < count; ++i) to[i] += factor * from[i];
  }

  // V' M for lower triangular V.
  Matrix upper_times(const double* V, const Matrix& M) const {
    Matrix product(P_ * P_);
    for (int64_t q = 0; q < P_; ++q) {
      for (int64_t s = 0; s <= q; ++s) add_row(V[q * P_ + s], &M[q * P_], P_, &product[s * P_]);
    }
    return product;
  }

  // L = W^-1, row after row of L = (I - (W - diag) L) / diag.
  Matrix inverse(const double* W) const {
    Matrix L(P_ * P_);
    for (int64_t p = 0; p < P_; ++p) {
      L[p * P_ + p] = 1.0;
      for (int64_t r = 0; r < p; ++r) add_row(-W[p * P_ + r], &L[r * P_], r + 1, &L[p * P_]);
      for (int64_t q = 0; q <= p; ++q) L[p * P_ + q] /= W[p * P_ + p];
    }
    return L;
  }

  const Shape& shape_;
  const Sums& at_;
  const Parameters& given_;
  const double* sums_;
  const int64_t d_, P_;
};

// Those of the neurons.
inline void write_neurons(const Shape& shape, const NeuronSums& at, const double* sums,
                          Parameters& g) {
  const int64_t dx = shape.dx, din = shape.din(), H = shape.neurons;
  for (int64_t k = 0; k < H; ++k) {
    auto sum = [&](int64_t begin, int64_t columns, int64_t i) {
      return sums[begin + (k / kTile * columns + i) * kTile + k % kTile];
    };
    for (int64_t d = 0; d < dx; ++d) g.neuron_out[d * H + k] = sum(at.out, pairs(dx), d);
    for (int64_t i = 0; i < din; ++i)
      g.neuron_weight[k * din + i] = sum(at.weight, moment_columns(din), i);
    g.neuron_bias[k] = sum(at.weight, moment_columns(din), din);
  }
}

}  // namespace prssm
