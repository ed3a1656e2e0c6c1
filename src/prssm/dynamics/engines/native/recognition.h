// q(x_1) from the first samples: h = tanh(W1 s + b1), mean = W2 h + [y_1, 0] + W4 s + b4, log std =
// W3 h + b3.
#pragma once

#include <cmath>
#include <vector>

#include "layout.h"

namespace prssm {

class Recognition {
 public:
  Recognition(const Sizes& n, const Offsets& at)
      : n_(n), at_(at), sample_(n.batch * n.sample_size()), h_(n.batch * n.hidden),
        mean_(n.batch * n.dx), log_std_(n.batch * n.dx), g_mean_(n.batch * n.dx),
        g_log_std_(n.batch * n.dx), g_h_(n.hidden) {}

  // Means and logarithms of deviations of all sub-trajectories of a batch.
  void run(const double* theta, const Data& data, const int64_t* first_rows) {
    for (int64_t b = 0; b < n_.batch; ++b) {
      read(data, first_rows[b], &sample_[b * n_.sample_size()]);
      one(theta, b);
    }
  }

  double* mean(int64_t b) { return &mean_[b * n_.dx]; }
  double* log_std(int64_t b) { return &log_std_[b * n_.dx]; }
  double* g_mean(int64_t b) { return &g_mean_[b * n_.dx]; }
  double* g_log_std(int64_t b) { return &g_log_std_[b * n_.dx]; }

  // KL(q(x_1) || N(0, I)) of all of them; its gradients, times `weight`, become g_mean and
  // g_log_std.
  double divergence(double weight) {
    double sum = 0.0;
    for (size_t i = 0; i < mean_.size(); ++i) {
      const double var = std::exp(2.0 * log_std_[i]);
      sum += 0.5 * (var + mean_[i] * mean_[i] - 1.0 - 2.0 * log_std_[i]);
      g_mean_[i] = weight * mean_[i];
      g_log_std_[i] = weight * (var - 1.0);
    }
    return sum;
  }

  // From g_mean and g_log_std to the parameters.
  void pull_back(const double* theta, double* g) {
    if (n_.hidden == 0) return;
    for (int64_t b = 0; b < n_.batch; ++b) pull_back_one(theta, b, g);
  }

 private:
  void read(const Data& data, int64_t row, double* sample) const {
    for (int64_t t = 0; t < n_.window; ++t) {
      for (int64_t j = 0; j < n_.dy; ++j) *sample++ = data.filled[(row + t) * n_.dy + j];
    }
    for (int64_t t = 0; t < n_.window; ++t) {
      for (int64_t i = 0; i < n_.du; ++i) *sample++ = data.u[(row + t) * n_.du + i];
    }
  }

  static double dot(const double* a, const double* b, int64_t count) {
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
      for (int r = 0; r < 4; ++r) sum[r] += a[i + r] * b[i + r];
    }
    for (; i < count; ++i) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }

  static void add(double factor, const double* from, int64_t count, double* to) {
    for (int64_t i = 0; i < count; ++i) to[i] += factor * from[i];
  }

  void one(const double* theta, int64_t b) {
    const int64_t size = n_.sample_size();
    for (int64_t d = 0; d < n_.dx; ++d) mean(b)[d] = log_std(b)[d] = 0.0;
    if (n_.hidden == 0) return;
    const double* sample = &sample_[b * size];
    double* h = &h_[b * n_.hidden];
    for (int64_t k = 0; k < n_.hidden; ++k) {
      h[k] = std::tanh(dot(theta + at_.hidden_weight + k * size, sample, size) +
                       theta[at_.hidden_bias + k]);
    }
    for (int64_t d = 0; d < n_.dx; ++d) {
      double value = dot(theta + at_.mean_weight + d * n_.hidden, h, n_.hidden) +
                     (d < n_.shown ? sample[d] : 0.0);
      if (at_.direct >= 0)
        value += dot(theta + at_.direct + d * size, sample, size) + theta[at_.direct_bias + d];
      mean(b)[d] = value;
      log_std(b)[d] = dot(theta + at_.log_std_weight + d * n_.hidden, h, n_.hidden) +
                      theta[at_.log_std_bias + d];
    }
  }

  void pull_back_one(const double* theta, int64_t b, double* g) {
    const int64_t size = n_.sample_size();
    const double *sample = &sample_[b * size], *h = &h_[b * n_.hidden];
    for (double& value : g_h_) value = 0.0;
    for (int64_t d = 0; d < n_.dx; ++d) {
      const double of_mean = g_mean(b)[d], of_log_std = g_log_std(b)[d];
      add(of_mean, h, n_.hidden, g + at_.mean_weight + d * n_.hidden);
      add(of_log_std, h, n_.hidden, g + at_.log_std_weight + d * n_.hidden);
      g[at_.log_std_bias + d] += of_log_std;
      add(of_mean, theta + at_.mean_weight + d * n_.hidden, n_.hidden, g_h_.data());
      add(of_log_std, theta + at_.log_std_weight + d * n_.hidden, n_.hidden, g_h_.data());
      if (at_.direct < 0) continue;
      add(of_mean, sample, size, g + at_.direct + d * size);
      g[at_.direct_bias + d] += of_mean;
    }
    for (int64_t k = 0; k < n_.hidden; ++k) {
      const double here = g_h_[k] * (1.0 - h[k] * h[k]);
      add(here, sample, size, g + at_.hidden_weight + k * size);
      g[at_.hidden_bias + k] += here;
    }
  }

  const Sizes& n_;
  const Offsets& at_;
  std::vector<double> sample_, h_, mean_, log_std_, g_mean_, g_log_std_, g_h_;
};

}  // namespace prssm
