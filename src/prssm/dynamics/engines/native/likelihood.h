// The expected log-likelihood of a batch and its gradients: y_t = C x_t + D u_t + offset + noise of
// deviation s, whose correlation from one sample to the next is rho. Summed over steps and measured
// outputs, averaged over samples.
#pragma once

#include <cmath>
#include <vector>

#include "layout.h"
#include "sums.h"

namespace prssm {

template <class S>
class Likelihood {
 public:
  Likelihood(const Sizes& n, const Offsets& at)
      : n_(n), at_(at), target_(n.steps * n.dy * n.batch),
        error_(n.steps * n.dy * n.trajectories()), slope_(n.steps * n.dy * n.trajectories()),
        C_(n.dy * n.dx, S(0)), D_(n.dy * n.du, S(0)), offset_(n.dy, S(0)) {}

  // What was measured and is shown of the batch's rows; NaN elsewhere.
  void read(const Data& data, const Own& own, const int64_t* first_rows) {
    for (int64_t t = 0; t < n_.steps; ++t) {
      for (int64_t j = 0; j < n_.dy; ++j) {
        for (int64_t b = 0; b < n_.batch; ++b) {
          const int64_t row = first_rows[b] + t;
          target_[(t * n_.dy + j) * n_.batch + b] =
              own.shown[row] ? S(data.y[row * n_.dy + j]) : S(NAN);
        }
      }
    }
  }

  // `rho` (Dy) is the correlation that counts at present. Gradients, times `scale`, are added to g
  // and g_rho; those of the states are written to g_states (T, Dx, B).
  double run(const double* theta, const S* states, const S* inputs, const double* rho, double scale,
             double* g, double* g_rho, S* g_states) {
    take(theta);
    double value = 0.0;
    for (int64_t j = 0; j < n_.dy; ++j)
      value += errors_of(theta, j, states, inputs, rho[j], scale, g, g_rho);
    for (int64_t j = 0; j < n_.dy; ++j) slopes_of(j, states, inputs, rho[j], g);
    const int64_t B = n_.trajectories();
    for (int64_t t = 0; t < n_.steps; ++t) {
      for (int64_t d = 0; d < n_.dx; ++d) {
        S* to = g_states + (t * n_.dx + d) * B;
        for (int64_t b = 0; b < B; ++b) to[b] = S(0);
        for (int64_t j = 0; j < n_.dy; ++j) {
          const S weight = C_[j * n_.dx + d];
          const S* from = &error_[(t * n_.dy + j) * B];
          for (int64_t b = 0; b < B; ++b) to[b] += weight * from[b];
        }
      }
    }
    return value / static_cast<double>(n_.samples);
  }

 private:
  void take(const double* theta) {
    for (int64_t i = 0; i < n_.dy * n_.dx; ++i) {
      C_[i] = at_.states >= 0 ? S(theta[at_.states + i]) : S(i / n_.dx == i % n_.dx ? 1 : 0);
    }
    if (at_.states < 0) return;
    for (int64_t i = 0; i < n_.dy * n_.du; ++i) D_[i] = S(theta[at_.inputs + i]);
    for (int64_t j = 0; j < n_.dy; ++j) offset_[j] = S(theta[at_.offset + j]);
  }

  // The noise of an output of which the sample before tells the share `known` of its deviation.
  struct Noise {
    Noise(double var, double known, double share)
        : known(known), unknown(1.0 - known * known), left(var * unknown),
          log_density(std::log(left) + kLog2Pi), weight(S(share / left)) {}

    const double known, unknown, left, log_density;
    const S weight;
  };

  bool measured(int64_t t, int64_t j, int64_t b) const {
    return t >= 0 && t < n_.steps && !std::isnan(target_[(t * n_.dy + j) * n_.batch + b]);
  }

  // Errors of output j; slope = d value / d (error less what the one before lets expect), times
  // scale / N.
  double errors_of(const double* theta, int64_t j, const S* states, const S* inputs, double rho,
                   double scale, double* g, double* g_rho) {
    const int64_t B = n_.trajectories(), N = n_.samples;
    const double var = std::exp(2.0 * theta[at_.log_output_std + j]),
                 share = scale / static_cast<double>(N);
    double value = 0.0, g_log_std = 0.0;
    const Noise forgetful(var, 0.0, share), remembering(var, rho, share);
    for (int64_t t = 0; t < n_.steps; ++t) {
      S* error = &error_[(t * n_.dy + j) * B];
      S* slope = &slope_[(t * n_.dy + j) * B];
      predict(t, j, states, inputs, error);
      for (int64_t b = 0; b < n_.batch; ++b) {
        const bool here = measured(t, j, b), remembers = here && measured(t - 1, j, b);
        const S target = here ? target_[(t * n_.dy + j) * n_.batch + b] : S(0);
        const Noise& noise = remembers ? remembering : forgetful;
        const S weight = here ? noise.weight : S(0), memory = S(noise.known);
        const S* previous = error - n_.dy * B;
        double square = 0.0, product = 0.0;
        for (int64_t k = b * N; k < (b + 1) * N; ++k) {
          error[k] = target - error[k];
          const S rest = remembers ? error[k] - memory * previous[k] : error[k];
          slope[k] = -weight * rest;
          square += static_cast<double>(rest) * static_cast<double>(rest);
          // Also where rho is zero: it begins there.
          if (remembers) product += static_cast<double>(rest) * static_cast<double>(previous[k]);
        }
        if (!here) continue;
        const double relative = square / noise.left;
        value -= 0.5 * (static_cast<double>(N) * noise.log_density + relative);
        g_log_std += relative - static_cast<double>(N);
        if (remembers) {
          g_rho[j] += share * (product / noise.left +
                               (static_cast<double>(N) - relative) * noise.known / noise.unknown);
        }
      }
    }
    g[at_.log_output_std + j] += share * g_log_std;
    return value;
  }

  // C x + D u + offset of output j at step t, for all trajectories.
  void predict(int64_t t, int64_t j, const S* states, const S* inputs, S* out) const {
    const int64_t B = n_.trajectories();
    for (int64_t b = 0; b < B; ++b) out[b] = offset_[j];
    for (int64_t d = 0; d < n_.dx; ++d) {
      const S weight = C_[j * n_.dx + d];
      const S* x = states + (t * n_.dx + d) * B;
      for (int64_t b = 0; b < B; ++b) out[b] += weight * x[b];
    }
    for (int64_t i = 0; i < n_.du; ++i) {
      const S weight = D_[j * n_.du + i];
      const S* u = inputs + (t * n_.du + i) * B;
      for (int64_t b = 0; b < B; ++b) out[b] += weight * u[b];
    }
  }

  // d value / d prediction of output j replaces its errors; gradients of the emission's parameters.
  void slopes_of(int64_t j, const S* states, const S* inputs, double rho, double* g) {
    const int64_t B = n_.trajectories(), N = n_.samples;
    for (int64_t t = 0; t < n_.steps; ++t) {
      S* out = &error_[(t * n_.dy + j) * B];
      const S *here = &slope_[(t * n_.dy + j) * B], *after = here + n_.dy * B;
      for (int64_t b = 0; b < n_.batch; ++b) {
        const S memory = rho != 0.0 && measured(t, j, b) && measured(t + 1, j, b) ? S(rho) : S(0);
        for (int64_t k = b * N; k < (b + 1) * N; ++k)
          out[k] = memory != S(0) ? memory * after[k] - here[k] : -here[k];
      }
      if (at_.states < 0) continue;
      for (int64_t d = 0; d < n_.dx; ++d)
        g[at_.states + j * n_.dx + d] += product(out, states + (t * n_.dx + d) * B, B);
      for (int64_t i = 0; i < n_.du; ++i)
        g[at_.inputs + j * n_.du + i] += product(out, inputs + (t * n_.du + i) * B, B);
      double sum = 0.0;
      for (int64_t b = 0; b < B; ++b) sum += static_cast<double>(out[b]);
      g[at_.offset + j] += sum;
    }
  }

  static constexpr double kLog2Pi = 1.8378770664093454836;
  const Sizes& n_;
  const Offsets& at_;
  std::vector<S> target_, error_, slope_, C_, D_, offset_;
};

}  // namespace prssm
