// The neurons of the prior mean for a block of trajectories. A model without neurons costs nothing
// here.
#pragma once

#include "step.h"

namespace {

// What they say, for as many steps at once as there are slots.
template <class S>
class Neurons {
 public:
  Neurons(const Model<S>& model, int64_t slots, Arena& arena)
      : model_(model), layer_(model.layer), tiles_(tiles_of(layer_.neurons)) {
    if (!any()) return;
    arena.take(active_, slots * padded());
    arena.take(added_, kTile * tiles_of(model.dx));
  }

  bool any() const { return layer_.neurons > 0; }
  int64_t tiles() const { return tiles_; }
  int64_t padded() const { return kTile * tiles_; }
  const Wide<S>* active(int64_t slot) const { return active_ + slot * padded(); }

  // h = tanh(W xu + c).
  void look(const Wide<S>* xu, int64_t slot) {
    Wide<S>* active = active_ + slot * padded();
    for (int64_t k = 0; k < padded(); ++k) active[k] = all(layer_.bias[k]);
    add_times(layer_.weight, xu, model_.din(), tiles_, active);
    for (int64_t k = 0; k < padded(); ++k) active[k] = hyperbolic_tangent(active[k]);
  }

  // O h, what the neurons add to each state.
  const Wide<S>* add(int64_t slot) {
    const int64_t tiles = tiles_of(model_.dx);
    for (int64_t d = 0; d < kTile * tiles; ++d) added_[d] = all(S(0));
    add_times(layer_.out, active(slot), layer_.neurons, tiles, added_);
    return added_;
  }

 private:
  const Model<S>& model_;
  const Layer<S>& layer_;
  const int64_t tiles_;
  Wide<S>*active_ = nullptr, *added_ = nullptr;
};

// Their way back. As in Backward, outer products wait in slots until several steps can be added at
// once.
template <class S>
class NeuronsBack {
  using Vector = typename Register<S>::Vector;

 public:
  NeuronsBack(const Model<S>& model, int64_t slots, Arena& arena)
      : model_(model), neurons_(model, slots, arena), at_(neuron_sums_of(model)),
        columns_(pairs(model.dx)), slots_(slots) {
    if (!any()) return;
    arena.take(lanes_, at_.size);
    arena.take(slot_pull_, slots * neurons_.padded());
    arena.take(slot_g_, slots * columns_);
    arena.take(back_, kTile * tiles_of(model.din()));
  }

  bool any() const { return neurons_.any(); }

  void clear() {
    memset(lanes_, 0, static_cast<size_t>(at_.size) * sizeof(Vector));
    for (int64_t i = 0; i < slots_ * columns_; ++i) slot_g_[i] = all(S(0));
  }

  // Adds to d loss / d xu, given g = d loss / d x_{t+1}.
  void step_back(const Wide<S>* xu, const Wide<S>* g, int64_t slot, Wide<S>* g_xu) {
    const int64_t dx = model_.dx, din = model_.din(), padded = neurons_.padded();
    neurons_.look(xu, slot);
    for (int64_t d = 0; d < dx; ++d) slot_g_[slot * columns_ + d] = g[d];
    Wide<S>* pull = slot_pull_ + slot * padded;  // d loss / d (W xu + c)
    for (int64_t k = 0; k < padded; ++k) pull[k] = all(S(0));
    add_times(model_.layer.out_back, g, dx, neurons_.tiles(), pull);
    const Wide<S>* h = neurons_.active(slot);
    for (int64_t k = 0; k < padded; ++k) pull[k] = pull[k] - pull[k] * h[k] * h[k];
    for (int64_t i = 0; i < kTile * tiles_of(din); ++i) back_[i] = all(S(0));
    add_times(model_.layer.weight_back, pull, model_.layer.neurons, tiles_of(din), back_);
    for (int64_t i = 0; i < din; ++i) g_xu[i] += back_[i];
  }

  // The products of the steps that are waiting; `slot_xu` has [xu; 1] of each.
  void add_products(const Wide<S>* slot_xu, int64_t slots) {
    const int64_t padded = neurons_.padded(), moments = moment_columns(model_.din());
    for (int64_t k = 0; k < padded; k += kTile) {
      Vector *out = lanes_ + at_.out + k * columns_, *weight = lanes_ + at_.weight + k * moments;
      add_outer(neurons_.active(0) + k, padded, slot_g_, columns_, columns_, slots, out);
      add_outer(slot_pull_ + k, padded, slot_xu, moments, moments, slots, weight);
    }
  }

  // Add this block's sums to those of the blocks before it.
  void finish(double* sums) const {
    for (int64_t i = 0; i < at_.size; ++i) sums[i] += total<S>(lanes_[i]);
  }

 private:
  const Model<S>& model_;
  Neurons<S> neurons_;
  const NeuronSums at_;
  const int64_t columns_, slots_;
  Vector* lanes_ = nullptr;
  Wide<S>*slot_pull_ = nullptr, *slot_g_ = nullptr, *back_ = nullptr;
};

}  // namespace
