// One step of a block of trajectories: the kernel e, a = (s^2 W) e, c = V'a, and mean and variance
// that follow from them.
#pragma once

#include "kernel.h"
#include "lanes.h"
#include "tiles.h"

namespace {

using namespace prssm;

// Divides a piece of memory; without memory it only counts what is needed.
class Arena {
 public:
  explicit Arena(void* memory) : memory_(static_cast<char*>(memory)) {}

  template <class T>
  void take(T*& pointer, int64_t count) {
    pointer = memory_ ? reinterpret_cast<T*>(memory_ + used_) : nullptr;
    used_ += (count * static_cast<int64_t>(sizeof(T)) + 63) / 64 * 64;
  }

  int64_t used() const { return used_; }

 private:
  char* memory_;
  int64_t used_ = 0;
};

// What a forward pass has computed at each step of one block, so that the way back need not: e, a
// and what they leave unsaid of every set of inducing inputs.
template <class S>
class Tape {
 public:
  const int64_t size;    // of what a set has at one step
  const int64_t stride;  // from a step to the next one

  Tape(const Model<S>& model, const Run<S>& run, int64_t block)
      : size(size_of(model)), stride(model.sets() * size), padded_(model.padded()),
        begin_(run.tape == nullptr
                   ? nullptr
                   : static_cast<Wide<S>*>(run.tape) + block * (run.steps - 1) * stride) {}

  static int64_t bytes(const Model<S>& model, int64_t steps) {
    return (steps - 1) * model.sets() * size_of(model) * static_cast<int64_t>(sizeof(Wide<S>));
  }

  bool any() const { return begin_ != nullptr; }
  Wide<S>* e(int64_t t, int64_t set) const { return begin_ + t * stride + set * size; }
  Wide<S>* a(int64_t t, int64_t set) const { return e(t, set) + padded_; }
  Wide<S>& unsaid(int64_t t, int64_t set) const { return a(t, set)[padded_]; }

 private:
  static int64_t size_of(const Model<S>& model) { return 2 * model.padded() + 1; }

  const int64_t padded_;
  Wide<S>* const begin_;
};

template <class S>
class Step {
 public:
  Step(const Model<S>& model, const Run<S>& run, int64_t block, Arena& arena)
      : model(model), run(run), first(block * kLanes<S>) {
    const int64_t left = run.batch - first;
    count = left < kLanes<S> ? left : kLanes<S>;
    arena.take(mean, model.dx * model.padded());
    arena.take(e, model.padded());
    arena.take(a, model.padded());
    arena.take(c, model.padded());
    arena.take(x, model.dx);
    arena.take(xu, model.din());
    arena.take(scaled, model.din());
    if (mean == nullptr) return;
    for (int64_t d = 0; d < model.dx; ++d) {
      for (int64_t p = 0; p < model.padded(); ++p) mean[d * model.padded() + p] = mean_of(d, p);
    }
  }

  // The place of this block's trajectories in row `row` of an array (T, Dx, B).
  template <class T>
  T* at(T* array, int64_t t, int64_t row) const {
    return array + (t * model.dx + row) * run.batch + first;
  }

  // The same for inputs (T, Du, B).
  template <class T>
  T* input_at(T* array, int64_t t, int64_t row) const {
    return array + (t * model.du + row) * run.batch + first;
  }

  // Ask for the memory of another step before it is needed.
  template <class T>
  void prefetch(const T* array, int64_t t, int64_t rows) const {
    const T* row = array + t * rows * run.batch + first;
    for (int64_t i = 0; i < rows; ++i, row += run.batch) {
      __builtin_prefetch(row), __builtin_prefetch(row + count - 1);
    }
  }

  // Fill xu with the states `x` and the inputs of step t.
  void read(int64_t t) {
    for (int64_t i = 0; i < model.dx; ++i) xu[i] = x[i];
    for (int64_t i = 0; i < model.du; ++i) xu[model.dx + i] = load(input_at(run.u, t, i), count);
  }

  // e, a and what they leave unsaid, from the kernel and inducing inputs of dimension d.
  void look(int64_t d) {
    const Dimension<S>& k = model.dimension[d];
    correlate(k);
    lower_times(k.white_rows, e, model.tiles, a);
    unsaid = all(k.variance) - dot(a, a, model.padded());
  }

  // The same from the tape of the way forward.
  void look_again(int64_t d, int64_t t, const Tape<S>& tape) {
    const Dimension<S>& k = model.dimension[d];
    for (int64_t i = 0; i < model.din(); ++i) scaled[i] = xu[i] * k.scale[i];
    e = tape.e(t, d);
    a = tape.a(t, d);
    unsaid = tape.unsaid(t, d);
  }

  // Mean and variance of dimension d at what was looked at last, without its prior mean; process
  // noise is in the variance.
  Wide<S> predicted_mean(int64_t d) const {
    return dot(mean + d * model.padded(), a, model.padded());
  }
  Wide<S> predicted_variance(int64_t d) {
    const Dimension<S>& k = model.dimension[d];
    Wide<S> variance = at_least_zero(unsaid) + k.process_var;
    if (model.spread) {
      transposed_times(k.spread_cols, a, model.tiles, c);
      variance += dot(c, c, model.padded());
    }
    return variance;
  }

  const Model<S>& model;
  const Run<S>& run;
  const int64_t first;
  int64_t count;  // trajectories of this block: all lanes but in the last one
  Wide<S>*mean, *e, *a, *c, *x, *xu, *scaled;
  Wide<S> unsaid;

 private:
  Wide<S> mean_of(int64_t d, int64_t p) const {
    if (!model.own_mean) return all(model.dimension[d].mean[p]);
    return p < model.points ? load(run.mean + (d * model.points + p) * run.batch + first, count)
                            : all(S(0));
  }

  // e_p = 2^-|zeta'_p - xu'|^2, with the square multiplied out.
  void correlate(const Dimension<S>& k) {
    const int64_t din = model.din();
    Wide<S> norm = all(S(0));
    for (int64_t i = 0; i < din; ++i) {
      scaled[i] = xu[i] * k.scale[i];
      norm -= scaled[i] * scaled[i];
    }
    correlations(k, norm, scaled, din, model.tiles, e);
  }
};

}  // namespace
