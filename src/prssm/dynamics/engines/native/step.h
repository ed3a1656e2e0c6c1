// One step of a block of trajectories: the kernel e, a = (s^2 W) e, c = V'a, and mean and variance that follow from them.
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

// What a forward pass has computed at each step of one block, so that the way back need not: e and a of every set of
// inducing inputs, side by side.
template <class S>
class Tape {
 public:
  Tape(const Model<S>& model, const Run<S>& run, int64_t block)
      : padded_(model.padded()), stride(2 * model.sets() * padded_),
        begin_(run.tape == nullptr ? nullptr : static_cast<Wide<S>*>(run.tape) + block * (run.steps - 1) * stride) {}

  static int64_t bytes(const Model<S>& model, int64_t steps) {
    return (steps - 1) * 2 * model.sets() * model.padded() * static_cast<int64_t>(sizeof(Wide<S>));
  }

  bool any() const { return begin_ != nullptr; }
  Wide<S>* e(int64_t t, int64_t set) const { return begin_ + t * stride + 2 * set * padded_; }
  Wide<S>* a(int64_t t, int64_t set) const { return e(t, set) + padded_; }

 private:
  const int64_t padded_;

 public:
  const int64_t stride;  // from a step to the next one

 private:
  Wide<S>* const begin_;
};

template <class S>
class Step {
 public:
  struct Predicted {
    Wide<S> mean, variance;  // of the GP; process noise is in the variance
  };

  Step(const Model<S>& model, const Run<S>& run, int64_t block, Arena& arena)
      : model(model), run(run), first(block * kLanes<S>) {
    const int64_t left = run.batch - first;
    count = left < kLanes<S> ? left : kLanes<S>;
    arena.take(mean, model.dx * model.padded());
    arena.take(e, model.padded()), arena.take(a, model.padded()), arena.take(c, model.padded());
    arena.take(x, model.dx), arena.take(xu, model.din()), arena.take(scaled, model.din());
    if (mean == nullptr) return;
    for (int64_t d = 0; d < model.dx; ++d) {
      for (int64_t p = 0; p < model.padded(); ++p) mean[d * model.padded() + p] = mean_of(d, p);
    }
  }

  // The place of this block's trajectories in row `row` of an array (T, Dx, B).
  template <class T>
  T* at(T* array, int64_t t, int64_t row) const { return array + (t * model.dx + row) * run.batch + first; }

  // The same for inputs (T, Du, B).
  template <class T>
  T* input_at(T* array, int64_t t, int64_t row) const { return array + (t * model.du + row) * run.batch + first; }

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
    leave(k);
  }

  // The same where e and a are known from the way forward.
  void look_again(int64_t d) {
    const Dimension<S>& k = model.dimension[d];
    for (int64_t i = 0; i < model.din(); ++i) scaled[i] = xu[i] * k.scale[i];
    leave(k);
  }

  // Dimension d at what was looked at last.
  Predicted predict(int64_t d) {
    const Dimension<S>& k = model.dimension[d];
    Wide<S> variance = at_least_zero(unsaid) + k.process_var;
    if (model.spread) {
      transposed_times(k.spread_cols, a, model.tiles, c);
      variance += dot(c, c, model.padded());
    }
    return {dot(mean + d * model.padded(), a, model.padded()), variance};
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
    return p < model.points ? load(run.mean + (d * model.points + p) * run.batch + first, count) : all(S(0));
  }

  void leave(const Dimension<S>& k) { unsaid = all(k.variance) - dot(a, a, model.padded()); }

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
