// The ELBO of one restart and its gradient: models/prssm/elbo.py in compiled code, which is its
// oracle.
//
//   scale * log-likelihood
//     - kl_weight * (scale * KL(q(x_1)) + gp_weight * KL(q(z)) + anchor_precision / 2 * distance^2)
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "functions.h"
#include "gradients.h"
#include "layout.h"
#include "likelihood.h"
#include "recognition.h"
#include "sums.h"
#include "threads.h"
#include "variants.h"

namespace prssm {

constexpr double kLargestCorrelation = 0.99;  // as in elbo.py
// A longer tape is not kept: it would not stay in the processor's cache.
constexpr int64_t kTapeBytes = 8 * 1024 * 1024;

template <class S>
class Objective {
 public:
  // `workers` threads share the trajectories of this one restart.
  Objective(const Sizes& n, const Offsets& at, int64_t workers)
      : n_(n), at_(at), workers_(workers), functions_(n, at), shape_(functions_.shape),
        kernel_(chosen_kernel<S>()),
        blocks_((n.trajectories() + kernel_.lanes - 1) / kernel_.lanes), recognition_(n, at),
        likelihood_(n, at), first_rows_(n.batch), x1_(n.dx * n.trajectories()),
        inputs_(n.steps * n.du * n.trajectories()), states_(n.steps * n.dx * n.trajectories()),
        g_states_(states_.size()), g_x1_(x1_.size()), rho_(n.dy), g_rho_(n.dy) {
    if (shape_.own_mean) {
      g_v_.resize(functions_.v.size());
      m_g_.resize(functions_.m.size());
      V_g_.resize(functions_.V.size());
    }
  }

  // Not finite where the restart is lost. `g` (size) is overwritten.
  double value_and_gradient(const double* theta, const Data& data, const Own& own,
                            const Draw<S>& draw, double kl_weight, double* g) {
    std::fill(g, g + at_.size, 0.0);
    for (int64_t b = 0; b < n_.batch; ++b) first_rows_[b] = own.starts[draw.windows[b]];
    const double scale = n_.full ? 1.0 : own.steps / static_cast<double>(n_.batch * n_.steps);
    if (!functions_.condition(theta)) return NAN;
    recognition_.run(theta, data, first_rows_.data());
    likelihood_.read(data, own, first_rows_.data());
    read_inputs(data);
    start(draw);
    functions_.draw(draw.function);
    const PackedModel<S> packed(shape_, functions_.given);
    const Model<S> model = packed.model();
    ready(model);
    const Run<S> run = arrays(draw);
    in_blocks([&](int64_t block, void* scratch) { kernel_.forward(model, run, block, scratch); });
    correlate(theta, own, kl_weight);
    const double log_likelihood =
        likelihood_.run(theta, states_.data(), inputs_.data(), rho_.data(), scale, g, g_rho_.data(),
                        g_states_.data());
    pull_correlation(theta, own, kl_weight, g);
    Parameters slopes = pull_rollout(model, run);
    const double kl_first = recognition_.divergence(-kl_weight * scale);
    pull_start(draw);
    recognition_.pull_back(theta, g);
    const double kl = pull_functions(theta, own, kl_weight, draw, slopes, g);
    write(theta, slopes, g);
    const double distance = pull_anchor(theta, own, kl_weight, g);
    return scale * log_likelihood - kl_weight * (scale * kl_first + own.gp_weight * kl +
                                                 0.5 * own.anchor_precision * distance);
  }

 private:
  template <class Work>
  void in_blocks(Work work) {
    run_jobs(blocks_, std::min(workers_, blocks_),
             [&](int64_t worker, int64_t block) { work(block, scratch_[worker].get()); });
  }

  void ready(const Model<S>& model) {
    if (!scratch_.empty()) return;
    scratch_ = scratch_for(std::min(workers_, blocks_), kernel_.scratch_bytes(model));
    const int64_t bytes = blocks_ * kernel_.tape_bytes(model, n_.steps);
    if (bytes <= kTapeBytes) tape_ = scratch_for(1, bytes);
  }

  Run<S> arrays(const Draw<S>& draw) {
    Run<S> run{};
    run.steps = n_.steps;
    run.batch = n_.trajectories();
    run.x1 = x1_.data();
    run.u = inputs_.data();
    run.eps = draw.eps;
    run.mean = functions_.v.data();
    run.states = states_.data();
    run.g_states = g_states_.data();
    run.g_x1 = g_x1_.data();
    run.g_mean = g_v_.data();
    run.tape = tape_.empty() ? nullptr : tape_[0].get();
    return run;
  }

  void read_inputs(const Data& data) {
    const int64_t B = n_.trajectories();
    for (int64_t t = 0; t < n_.steps; ++t) {
      for (int64_t i = 0; i < n_.du; ++i) {
        S* to = &inputs_[(t * n_.du + i) * B];
        for (int64_t b = 0; b < n_.batch; ++b) {
          const S value = S(data.u[(first_rows_[b] + t) * n_.du + i]);
          for (int64_t k = 0; k < n_.samples; ++k) *to++ = value;
        }
      }
    }
  }

  // The row of eps that draws the first states: no step follows x_T, so the recursion leaves it
  // unused.
  const S* first_noise(const Draw<S>& draw) const {
    return draw.eps + (n_.steps - 1) * n_.dx * n_.trajectories();
  }

  void start(const Draw<S>& draw) {
    const S* noise = first_noise(draw);
    for (int64_t d = 0, k = 0; d < n_.dx; ++d) {
      for (int64_t b = 0; b < n_.batch; ++b) {
        const double mean = recognition_.mean(b)[d], std = std::exp(recognition_.log_std(b)[d]);
        for (int64_t s = 0; s < n_.samples; ++s, ++k)
          x1_[k] = S(mean + std * static_cast<double>(noise[k]));
      }
    }
  }

  void pull_start(const Draw<S>& draw) {
    const S* noise = first_noise(draw);
    for (int64_t d = 0, k = 0; d < n_.dx; ++d) {
      for (int64_t b = 0; b < n_.batch; ++b) {
        const double std = std::exp(recognition_.log_std(b)[d]);
        for (int64_t s = 0; s < n_.samples; ++s, ++k) {
          recognition_.g_mean(b)[d] += static_cast<double>(g_x1_[k]);
          recognition_.g_log_std(b)[d] +=
              static_cast<double>(g_x1_[k]) * static_cast<double>(noise[k]) * std;
        }
      }
    }
  }

  // The backward pass: sums of all blocks, added in their order whatever the number of threads.
  Parameters pull_rollout(const Model<S>& model, const Run<S>& run) {
    const Sums at = sums_of(model);
    const int64_t size = all_sums(model);
    sums_.assign(static_cast<size_t>(size * blocks_), 0.0);
    in_blocks([&](int64_t block, void* scratch) {
      kernel_.backward(model, run, block, scratch, &sums_[block * size]);
    });
    for (int64_t block = 1; block < blocks_; ++block) {
      for (int64_t i = 0; i < size; ++i) sums_[i] += sums_[block * size + i];
    }
    Parameters slopes = zeros_like(functions_.given);
    for (int64_t d = 0; d < n_.dx; ++d)
      DimensionGradient(shape_, at, functions_.given, &sums_[d * at.size], d).write(slopes);
    write_neurons(shape_, neuron_sums_of(model), &sums_[n_.dx * at.size], slopes);
    return slopes;
  }

  // KL(q(v) || N(0, I)), with its gradients; then from q(v) to the parameters of q(z), and its
  // share of dL/dW.
  double pull_functions(const double* theta, const Own& own, double kl_weight, const Draw<S>& draw,
                        Parameters& slopes, double* g) {
    if (shape_.own_mean) gather_functions(draw);
    std::vector<double>& g_m = shape_.own_mean ? m_g_ : slopes.mean;
    std::vector<double>& g_V = shape_.own_mean ? V_g_ : slopes.spread;
    const int64_t P = n_.points;
    const double weight = -kl_weight * own.gp_weight;
    double kl = 0.0;
    for (int64_t k = 0; k < n_.dx * P; ++k) {
      const double* row = &functions_.V[k * P];
      const int64_t p = k % P;
      kl += 0.5 * (functions_.m[k] * functions_.m[k] - 1.0) - std::log(row[p]);
      g_m[k] += weight * functions_.m[k];
      for (int64_t q = 0; q <= p; ++q) {
        kl += 0.5 * row[q] * row[q];
        g_V[k * P + q] += weight * (row[q] - (p == q ? 1.0 / row[p] : 0.0));
      }
    }
    for (int64_t d = 0; d < n_.dx; ++d)
      unwhiten(theta, d, &g_m[d * P], &g_V[d * P * P], &slopes.white[d * P * P], g);
    return kl;
  }

  // Gradients of m and V from those of each trajectory's v.
  void gather_functions(const Draw<S>& draw) {
    const int64_t P = n_.points, B = n_.trajectories();
    for (int64_t d = 0; d < n_.dx; ++d) {
      for (int64_t p = 0; p < P; ++p) {
        const S* from = &g_v_[(d * P + p) * B];
        double sum = 0.0;
        for (int64_t b = 0; b < B; ++b) sum += static_cast<double>(from[b]);
        m_g_[d * P + p] = sum;
        for (int64_t q = 0; q <= p; ++q) {
          V_g_[(d * P + p) * P + q] = product(from, draw.function + (d * P + q) * B, B);
        }
      }
    }
  }

  void unwhiten(const double* theta, int64_t d, const double* g_m, const double* g_V, double* g_W,
                double* g) {
    const int64_t P = n_.points;
    const double* mean = theta + at_.z_mean + d * P;
    for (int64_t p = 0; p < P; ++p) {
      if (!n_.diagonal) {
        double* factor = g + at_.z_spread + (d * P + p) * P;
        for (int64_t q = 0; q < p; ++q) factor[q] += g_V[p * P + q];
        factor[p] += g_V[p * P + p] * functions_.V[(d * P + p) * P + p];
        g[at_.z_mean + d * P + p] += g_m[p];
        continue;
      }
      for (int64_t q = 0; q <= p; ++q) {
        const double W = functions_.given.white[(d * P + p) * P + q],
                     std = std::exp(theta[at_.z_spread + d * P + q]);
        g[at_.z_mean + d * P + q] += W * g_m[p];
        g[at_.z_spread + d * P + q] += W * std * g_V[p * P + q];
        g_W[p * P + q] += g_m[p] * mean[q] + std * g_V[p * P + q];
      }
    }
  }

  // From the engine's terms to the parameters; W goes back through its covariance.
  void write(const double* theta, Parameters& slopes, double* g) {
    const int64_t P = n_.points, din = n_.din();
    auto add = [g](const std::vector<double>& from, int64_t begin) {
      for (size_t i = 0; i < from.size(); ++i) g[begin + static_cast<int64_t>(i)] += from[i];
    };
    add(slopes.neuron_out, at_.neuron_out);
    add(slopes.neuron_weight, at_.neuron_weight);
    add(slopes.neuron_bias, at_.neuron_bias);
    for (int64_t d = 0; d < n_.dx; ++d) {
      functions_.covariance[d].pull_back(&slopes.white[d * P * P], theta + at_.zeta + d * P * din,
                                         &functions_.given.precision[d * din],
                                         functions_.given.variance[d], &slopes.zeta[d * P * din],
                                         &slopes.precision[d * din], &slopes.variance[d]);
      g[at_.log_std + d] += 2.0 * functions_.given.variance[d] * slopes.variance[d];
      g[at_.log_process_std + d] += 2.0 * functions_.given.process_var[d] * slopes.process_var[d];
      for (int64_t i = 0; i < din; ++i) {
        g[at_.log_lengthscale + d * din + i] -=
            functions_.given.precision[d * din + i] * slopes.precision[d * din + i];
        if (n_.mean == 2) g[at_.weight + d * din + i] += slopes.weight[d * din + i];
      }
      if (n_.mean == 2) g[at_.bias + d] += slopes.bias[d];
      for (int64_t k = 0; k < P * din; ++k)
        g[at_.zeta + d * P * din + k] += slopes.zeta[d * P * din + k];
    }
  }

  // The noise's correlation comes in with the KL, and is bounded rather than scaled while it does
  // (elbo.py says why).
  void correlate(const double* theta, const Own& own, double kl_weight) {
    for (int64_t j = 0; j < n_.dy; ++j) {
      g_rho_[j] = 0.0;
      rho_[j] = own.memory_weight *
                std::min(kLargestCorrelation * std::tanh(theta[at_.noise_memory + j]), kl_weight);
    }
  }

  void pull_correlation(const double* theta, const Own& own, double kl_weight, double* g) {
    for (int64_t j = 0; j < n_.dy; ++j) {
      const double bend = std::tanh(theta[at_.noise_memory + j]);
      if (kLargestCorrelation * bend > kl_weight) continue;
      g[at_.noise_memory + j] +=
          own.memory_weight * kLargestCorrelation * (1.0 - bend * bend) * g_rho_[j];
    }
  }

  // Squared distance from the anchor of all that no Gaussian process stands behind.
  double pull_anchor(const double* theta, const Own& own, double kl_weight, double* g) {
    double sum = 0.0;
    auto pull = [&](int64_t first, int64_t count) {
      for (int64_t i = first; first >= 0 && i < first + count; ++i) {
        const double apart = theta[i] - own.anchor[i];
        sum += apart * apart;
        g[i] -= kl_weight * own.anchor_precision * apart;
      }
    };
    const int64_t dx = n_.dx, hidden = n_.hidden, size = n_.sample_size();
    pull(at_.weight, dx * n_.din());
    pull(at_.bias, dx);
    pull(at_.neuron_out, dx * n_.neurons);
    pull(at_.neuron_weight, n_.neurons * n_.din());
    pull(at_.neuron_bias, n_.neurons);
    pull(at_.states, n_.dy * dx);
    pull(at_.inputs, n_.dy * n_.du);
    pull(at_.offset, n_.dy);
    pull(at_.hidden_weight, hidden * size);
    pull(at_.hidden_bias, hidden);
    pull(at_.mean_weight, dx * hidden);
    pull(at_.log_std_weight, dx * hidden);
    pull(at_.log_std_bias, dx);
    pull(at_.direct, dx * size);
    pull(at_.direct_bias, dx);
    return sum;
  }

  const Sizes& n_;
  const Offsets& at_;
  const int64_t workers_;
  Functions<S> functions_;
  const Shape& shape_;
  const Kernel<S>& kernel_;
  const int64_t blocks_;
  Recognition recognition_;
  Likelihood<S> likelihood_;
  std::vector<int64_t> first_rows_;
  std::vector<S> x1_, inputs_, states_, g_states_, g_x1_, g_v_;
  std::vector<double> rho_, g_rho_, m_g_, V_g_, sums_;
  std::vector<Scratch> scratch_, tape_;
};

}  // namespace prssm
