// What the two halves of the native engine share: rollout.cc prepares the parameters, threads and
// final gradients, kernel.cc walks blocks of trajectories through time. docs/adjoint.md has the
// mathematics and the names. Functions here are always inlined: a copy compiled for one processor
// must not serve another.
#pragma once

#include <cstdint>

namespace prssm {

// Matrices are packed in tiles of four rows; the number of inducing points is padded to whole tiles
// with zeros.
constexpr int64_t kTile = 4;

// Entries of a lower triangular matrix of `tiles` x `tiles` tiles, those on the diagonal stored
// whole.
[[gnu::always_inline]] inline int64_t triangle(int64_t tiles) {
  return kTile * kTile * tiles * (tiles + 1) / 2;
}

[[gnu::always_inline]] inline int64_t tiles_of(int64_t rows) { return (rows + kTile - 1) / kTile; }

// The parameters of one latent dimension. With c^2 = log2(e) / 2 the kernel is k = s^2 e, e =
// 2^-|zeta' - xu'|^2 for inputs scaled by c / lengthscale.
template <class S>
struct Dimension {
  const S* scale;        // (Din) c / lengthscale
  const S* twice_zeta;   // (tiles, Din, 4) 2 zeta'
  const S* zeta_norm;    // (P) |zeta'|^2
  const S* white_rows;   // s^2 W, so that a = (s^2 W) e: tile by tile of its rows,
  const S* white_cols;   // and of its columns
  const S* spread_rows;  // V in the same two orders
  const S* spread_cols;
  const S* mean;    // (P) m, where all trajectories share it
  const S* weight;  // (Din) row of A
  S variance, process_var, bias;
};

// The neurons of the prior mean, O tanh(W xu + c). Matrices lie in tiles of their rows, (tiles,
// columns, 4).
template <class S>
struct Layer {
  int64_t neurons;       // 0: the mean is affine
  const S* weight;       // W (neurons, Din)
  const S* bias;         // c, padded to whole tiles
  const S* out;          // O (Dx, neurons)
  const S* weight_back;  // W' and O', for the way back
  const S* out_back;
};

template <class S>
struct Model {
  int64_t dx, du, points, tiles;  // `points` as given, before padding
  bool spread, own_mean;          // V is there; each trajectory has its own m
  bool shared;  // all dimensions have the kernel, inducing inputs and W of the first
  const Dimension<S>* dimension;
  Layer<S> layer;
  [[gnu::always_inline]] int64_t din() const { return dx + du; }
  [[gnu::always_inline]] int64_t padded() const { return kTile * tiles; }
  [[gnu::always_inline]] int64_t sets() const {
    return shared ? 1 : dx;
  }  // of kernel and inducing inputs
  [[gnu::always_inline]] int64_t set_of(int64_t d) const { return shared ? 0 : d; }
};

// The arrays of one model's trajectories, time leading and trajectories last. What is not wanted is
// null.
template <class S>
struct Run {
  int64_t steps, batch;
  const S *x1, *u, *eps, *mean;  // mean (Dx, P, B) where each trajectory has its own
  S* states;                     // written by the forward pass, read by the backward pass
  const S* g_states;
  S *g_x1, *g_u, *g_eps, *g_mean;
  // What the forward pass leaves for the backward pass of the same blocks, aligned to 64 bytes
  // (`Tape`); null: nothing.
  void* tape;
};

// Where the sums over steps and trajectories lie that the parameter gradients of one dimension are
// made of.
struct Sums {
  int64_t said;     // sum of g_unsaid a a', lower tiles
  int64_t floored;  // sum of (g_var - g_unsaid) a a', lower tiles
  int64_t moments;  // (tiles, columns, 4) sum of w_p [xu; 1]
  int64_t squares;  // (Din) sum of xu^2 sum_p w_p
  int64_t weight;   // (Din) sum of g xu
  int64_t g_sum, g_var, g_unsaid;
  int64_t in_lanes;  // so far a register for each of these in a block; what follows exists only as
                     // numbers
  int64_t slope;     // (P) sum of g a
  int64_t cross;  // (P, P) sum of m (sum of g a)' over trajectories, where each has its own m; its
                  // lower triangle
  int64_t size;
};

[[gnu::always_inline]] inline int64_t pairs(int64_t columns) { return (columns + 1) / 2 * 2; }
[[gnu::always_inline]] inline int64_t moment_columns(int64_t din) {
  return pairs(din + 1);
}  // xu and 1

template <class S>
[[gnu::always_inline]] inline Sums sums_of(const Model<S>& model) {
  Sums at{};
  at.floored = at.said + triangle(model.tiles);
  at.moments = at.floored + triangle(model.tiles);
  at.squares = at.moments + model.padded() * moment_columns(model.din());
  at.weight = at.squares + model.din();
  at.g_sum = at.weight + model.din();
  at.g_var = at.g_sum + 1;
  at.g_unsaid = at.g_var + 1;
  at.in_lanes = at.g_unsaid + 1;
  at.slope = at.in_lanes;
  at.cross = at.slope + model.padded();
  at.size = at.cross + (model.own_mean ? model.padded() * model.padded() : 0);
  return at;
}

// The sums of the neurons, which all dimensions share: they follow those of the dimensions.
struct NeuronSums {
  int64_t out;     // (tiles, columns, 4) sum of h_k g
  int64_t weight;  // (tiles, columns, 4) sum of dL/d(W xu + c)_k [xu; 1]
  int64_t size;
};

template <class S>
[[gnu::always_inline]] inline NeuronSums neuron_sums_of(const Model<S>& model) {
  const int64_t padded = kTile * tiles_of(model.layer.neurons);
  NeuronSums at{};
  at.weight = at.out + padded * pairs(model.dx);
  at.size = at.weight + padded * moment_columns(model.din());
  return at;
}

// How many sums a model has.
template <class S>
[[gnu::always_inline]] inline int64_t all_sums(const Model<S>& model) {
  return model.dx * sums_of(model).size + neuron_sums_of(model).size;
}

// One copy of the kernel, compiled for one kind of processor. Block b holds trajectories b * lanes
// and the following. `scratch` is aligned to 64 bytes; `tape_bytes` counts what a run of so many
// steps leaves on tape; the backward pass adds to `sums` (Dx, Sums::size) and the neurons' behind
// them.
template <class S>
struct Kernel {
  int64_t lanes;
  int64_t (*scratch_bytes)(const Model<S>&);
  int64_t (*tape_bytes)(const Model<S>&, int64_t steps);  // of one block
  void (*forward)(const Model<S>&, const Run<S>&, int64_t block, void* scratch);
  void (*backward)(const Model<S>&, const Run<S>&, int64_t block, void* scratch, double* sums);
};

struct Variant {
  const char* name;
  Kernel<float> single_precision;
  Kernel<double> double_precision;
};

}  // namespace prssm
