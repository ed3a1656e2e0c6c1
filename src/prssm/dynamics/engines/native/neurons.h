// The neurons of the prior mean for a block of trajectories. A model without neurons costs nothing here.
#pragma once

#include "step.h"

namespace {

template <class S>
class Neurons {
 public:
  Neurons(const Model<S>& model, Arena& arena)
      : model_(model), network_(model.network), tiles_(tiles_of(network_.neurons)) {
    if (!any()) return;
    arena.take(active_, kTile * tiles_), arena.take(added_, kTile * tiles_of(model.dx));
  }

  bool any() const { return network_.neurons > 0; }

  // h = tanh(W xu + c).
  void look(const Wide<S>* xu) {
    for (int64_t k = 0; k < kTile * tiles_; ++k) active_[k] = all(network_.bias[k]);
    add_times(network_.weight, xu, model_.din(), tiles_, active_);
    for (int64_t k = 0; k < kTile * tiles_; ++k) active_[k] = hyperbolic_tangent(active_[k]);
  }

  // O h, what the neurons of the last look add to each state.
  const Wide<S>* add() {
    const int64_t tiles = tiles_of(model_.dx);
    for (int64_t d = 0; d < kTile * tiles; ++d) added_[d] = all(S(0));
    add_times(network_.out, active_, network_.neurons, tiles, added_);
    return added_;
  }

 private:
  const Model<S>& model_;
  const Network<S>& network_;
  const int64_t tiles_;
  Wide<S>*active_ = nullptr, *added_ = nullptr;
};

}  // namespace
