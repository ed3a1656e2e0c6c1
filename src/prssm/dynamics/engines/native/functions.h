// The functions of one restart, ready for the recursion: precisions, variances, W, m and V of q(v),
// and one draw of v for each trajectory where it keeps its function.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "covariance.h"
#include "layout.h"
#include "parameters.h"

namespace prssm {

template <class S>
class Functions {
 public:
  Functions(const Sizes& n, const Offsets& at)
      : shape{n.dx, n.du, n.points, n.per_step != 0, n.per_step == 0, false, n.neurons},
        m(n.dx * n.points), V(n.dx * n.points * n.points), n_(n), at_(at) {
    for (int64_t d = 0; d < n.dx; ++d) covariance.emplace_back(n.points, n.din());
    if (shape.own_mean) v.resize(n.dx * n.points * n.trajectories());
    given.zeta.resize(n.dx * n.points * n.din());
    given.precision.resize(n.dx * n.din());
    given.variance.resize(n.dx);
    given.white.resize(V.size());
    given.weight.resize(n.dx * n.din());
    given.bias.resize(n.dx);
    given.process_var.resize(n.dx);
    given.neuron_out.resize(n.dx * n.neurons);
    given.neuron_weight.resize(n.neurons * n.din());
    given.neuron_bias.resize(n.neurons);
  }

  // From parameters to the engine's terms; false where a covariance is not positive definite.
  bool condition(const double* theta) {
    const int64_t P = n_.points, din = n_.din();
    for (int64_t d = 0; d < n_.dx; ++d) {
      given.variance[d] = std::exp(2.0 * theta[at_.log_std + d]);
      given.process_var[d] = std::exp(2.0 * theta[at_.log_process_std + d]);
      for (int64_t i = 0; i < din; ++i) {
        given.precision[d * din + i] = std::exp(-theta[at_.log_lengthscale + d * din + i]);
        given.weight[d * din + i] =
            n_.mean == 2 ? theta[at_.weight + d * din + i] : (n_.mean == 1 && i == d ? 1.0 : 0.0);
      }
      given.bias[d] = n_.mean == 2 ? theta[at_.bias + d] : 0.0;
      const double* zeta = theta + at_.zeta + d * P * din;
      std::copy(zeta, zeta + P * din, &given.zeta[d * P * din]);
      if (!covariance[d].factor(zeta, &given.precision[d * din], given.variance[d])) return false;
      std::copy(covariance[d].white().begin(), covariance[d].white().end(),
                &given.white[d * P * P]);
      whiten(theta, d);
    }
    if (!shape.own_mean) {
      given.mean = m;
      given.spread = V;
    }
    read_neurons(theta);
    return true;
  }

  // m and V of one dimension.
  void whiten(const double* theta, int64_t d) {
    const int64_t P = n_.points;
    const double *mean = theta + at_.z_mean + d * P, *W = &given.white[d * P * P];
    for (int64_t p = 0; p < P; ++p) {
      double* row = &V[(d * P + p) * P];
      if (n_.diagonal) {
        double sum = 0.0;
        for (int64_t q = 0; q <= p; ++q) {
          sum += W[p * P + q] * mean[q];
          row[q] = W[p * P + q] * std::exp(theta[at_.z_spread + d * P + q]);
        }
        m[d * P + p] = sum;
      } else {
        const double* factor = theta + at_.z_spread + (d * P + p) * P;
        for (int64_t q = 0; q < p; ++q) row[q] = factor[q];
        row[p] = std::exp(factor[p]);
        m[d * P + p] = mean[p];
      }
    }
  }

  // v = m + V noise for each trajectory.
  void draw(const S* noise_of_all) {
    if (!shape.own_mean) return;
    const int64_t P = n_.points, B = n_.trajectories();
    for (int64_t d = 0; d < n_.dx; ++d) {
      for (int64_t p = 0; p < P; ++p) {
        S* to = &v[(d * P + p) * B];
        std::fill(to, to + B, S(m[d * P + p]));
        for (int64_t q = 0; q <= p; ++q) {
          const S weight = S(V[(d * P + p) * P + q]);
          const S* noise = noise_of_all + (d * P + q) * B;
          for (int64_t b = 0; b < B; ++b) to[b] += weight * noise[b];
        }
      }
    }
  }

  const Shape shape;
  Parameters given;          // as the recursion takes them
  std::vector<double> m, V;  // of q(v)
  std::vector<S> v;          // (Dx, P, B) one draw for each trajectory
  std::vector<Covariance> covariance;

 private:
  void read_neurons(const double* theta) {
    auto read = [theta](int64_t begin, std::vector<double>& to) {
      std::copy_n(theta + begin, to.size(), to.begin());
    };
    if (n_.neurons == 0) return;
    read(at_.neuron_out, given.neuron_out);
    read(at_.neuron_weight, given.neuron_weight);
    read(at_.neuron_bias, given.neuron_bias);
  }

  const Sizes& n_;
  const Offsets& at_;
};

}  // namespace prssm
