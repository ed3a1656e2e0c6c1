// What one restart of PR-SSM is made of: sizes, kinds of its parts, and where each array lies in
// the vector of parameters. trainer.py fills these structures; the order of their fields is the
// contract between the two.
#pragma once

#include <cstdint>

namespace prssm {

struct Sizes {
  int64_t dx, du, dy, points;
  int64_t steps;     // of a sub-trajectory
  int64_t batch;     // sub-trajectories
  int64_t samples;   // trajectories of each
  int64_t window;    // first samples that the recognition model reads
  int64_t hidden;    // its hidden units; 0: there is none, the first state is N(0, I)
  int64_t shown;     // first states that begin at the first measurement
  int64_t diagonal;  // q(z) is diagonal, else q(v) of the whitened z has any covariance
  int64_t per_step;  // the function is drawn anew at every step, else once for each trajectory
  int64_t mean;      // 0: zero, 1: identity, 2: linear
  int64_t neurons;   // of the prior mean, beside its linear part
  int64_t full;      // all windows, so that nothing is scaled from a mini-batch to the data set
  int64_t rows;      // of the data
  int64_t windows;   // from which a mini-batch is drawn

  int64_t din() const { return dx + du; }
  int64_t trajectories() const { return batch * samples; }
  int64_t sample_size() const { return window * (dy + du); }
};

// Where each array begins; -1 where the model has none.
struct Offsets {
  int64_t log_std, log_lengthscale, zeta, z_mean, z_spread, weight, bias, log_process_std;
  int64_t neuron_out, neuron_weight, neuron_bias;
  int64_t states, inputs, offset;  // of the emission
  int64_t hidden_weight, hidden_bias, mean_weight, log_std_weight, log_std_bias, direct,
      direct_bias;
  int64_t log_output_std, noise_memory;
  int64_t size;  // of the whole vector
};

struct Data {
  const double *u, *y, *filled;  // (rows, D); y is NaN where nothing was measured
};

// What one restart is shown, and what it costs to leave its start.
struct Own {
  const uint8_t* shown;   // (rows)
  const int64_t* starts;  // (windows)
  const double* anchor;   // (size)
  double steps, gp_weight, anchor_precision, memory_weight;
};

// The random numbers of one iteration, the same for all restarts.
template <class S>
struct Draw {
  const int64_t* windows;  // (batch) which of the starts
  const S* eps;            // (T, Dx, B); the last row draws the first state
  const S* function;       // (Dx, P, B) where each trajectory has its own function
};

}  // namespace prssm
