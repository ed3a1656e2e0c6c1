// One block of trajectories from its last step back to the first: cotangents, and the sums that
// parameter gradients are made of. e and a come from the tape of the way forward or are computed
// again from the saved states, as c is. docs/adjoint.md derives every formula.
#pragma once

#include "neurons.h"
#include "step.h"

namespace {

constexpr int64_t kSlotBytes =
    384 * 1024;  // what waits for its outer products should stay in the second-level cache

// The backward pass of one block. Outer products over steps wait until several steps can be added
// at once ("slots").
template <class S>
class Backward {
  using Vector = typename Register<S>::Vector;

 public:
  Backward(const Model<S>& model, const Run<S>& run, int64_t block, Arena& arena)
      : model_(model), run_(run), step_(model, run, block, arena), tape_(model, run, block),
        at_(sums_of(model)), slots_(slots_of(model)), neurons_(model, slots_, arena),
        a_stride_(model.sets() * model.padded()) {
    const int64_t dx = model.dx, padded = model.padded(), sets = model.sets();
    arena.take(lanes_, dx * at_.in_lanes);
    arena.take(slope_, dx * padded);
    arena.take(g_a_, padded);
    arena.take(g_a_more_, padded);
    arena.take(weighted_, slots_ * padded);
    arena.take(slot_g_, slots_ * dx);
    arena.take(g_, dx);
    arena.take(g_xu_, model.din());
    arena.take(pull_, model.din());
    arena.take(slot_a_, slots_ * sets * padded);
    arena.take(slot_w_, slots_ * sets * padded);
    arena.take(slot_unsaid_, slots_ * dx);
    arena.take(slot_floored_, slots_ * dx);
    arena.take(slot_xu_, slots_ * moment_columns(model.din()));
    if (tape_.any()) a_stride_ = -tape_.stride;  // slots go back in time
  }

  void operator()(double* sums) {
    clear();
    const int64_t last = run_.steps - 1;
    for (int64_t d = 0; d < model_.dx; ++d)
      g_[d] = load_or_zero(step_.at(run_.g_states, last, d), step_.count);
    int64_t waiting = 0;
    for (int64_t t = last - 1; t >= 0; --t) {
      if (waiting == 0 && tape_.any()) slot_a_ = tape_.a(t, 0);
      step_back(t, waiting++);
      if (waiting == slots_ || t == 0) {
        for (int64_t d = 0; d < model_.dx; ++d) add_products(d, waiting);
        if (neurons_.any()) neurons_.add_products(slot_xu_, waiting);
        waiting = 0;
      }
    }
    for (int64_t d = 0; d < model_.dx; ++d) store(step_.at(run_.g_x1, 0, d), step_.count, g_[d]);
    for (int64_t d = 0; d < model_.dx; ++d) finish(d, sums + d * at_.size);
    if (neurons_.any()) neurons_.finish(sums + model_.dx * at_.size);
  }

 private:
  static int64_t slots_of(const Model<S>& model) {
    const int64_t fit =
        kSlotBytes / (2 * model.sets() * model.padded() * static_cast<int64_t>(sizeof(Wide<S>)));
    return fit < 2 ? 2 : fit > kSlots ? kSlots : fit;
  }

  void clear() {
    memset(lanes_, 0, static_cast<size_t>(model_.dx * at_.in_lanes) * sizeof(Vector));
    memset(slope_, 0, static_cast<size_t>(model_.dx * model_.padded()) * sizeof(Wide<S>));
    if (neurons_.any()) neurons_.clear();
    const int64_t columns = moment_columns(model_.din());
    for (int64_t slot = 0; slot < slots_; ++slot) {
      for (int64_t i = model_.din(); i < columns; ++i)
        slot_xu_[slot * columns + i] = all(i == model_.din() ? S(1) : S(0));
    }
  }

  // From g = d loss / d x_{t+1} to d loss / d x_t; what parameter gradients need is kept in `slot`.
  void step_back(int64_t t, int64_t slot) {
    for (int64_t i = 0; i < model_.dx; ++i)
      step_.x[i] = load(step_.at(run_.states, t, i), step_.count);
    step_.read(t);
    if (t > 0) {
      step_.prefetch(run_.states, t - 1, model_.dx);
      step_.prefetch(run_.eps, t - 1, model_.dx);
      step_.prefetch(run_.g_states, t - 1, model_.dx);
      step_.prefetch(run_.u, t - 1, model_.du);
    }
    Wide<S>* columns = slot_xu_ + slot * moment_columns(model_.din());
    for (int64_t i = 0; i < model_.din(); ++i) {
      columns[i] = step_.xu[i];
      g_xu_[i] = all(S(0));
    }
    if (neurons_.any()) neurons_.step_back(step_.xu, g_, slot, g_xu_);
    for (int64_t d = 0; d < model_.dx; ++d) pull_back(d, t, slot);
    for (int64_t d = 0; d < model_.dx; ++d)
      g_[d] = g_xu_[d] + load_or_zero(step_.at(run_.g_states, t, d), step_.count);
    if (run_.g_u == nullptr) return;
    for (int64_t i = 0; i < model_.du; ++i)
      store(step_.input_at(run_.g_u, t, i), step_.count, g_xu_[model_.dx + i]);
  }

  // Dimension d's share of one step back. What goes through a shared kernel waits until all
  // dimensions have given theirs.
  void pull_back(int64_t d, int64_t t, int64_t slot) {
    const int64_t set = model_.set_of(d), at = slot * model_.dx + d;
    if (set == d) look(d, t, slot);
    const Wide<S> std = root(step_.predicted_variance(d)), g = g_[d];
    const Wide<S> twice_g_var = g * load(step_.at(run_.eps, t, d), step_.count) / std;
    const Wide<S> twice_g_unsaid = where_positive(step_.unsaid, twice_g_var);
    add_g_a(d, g, twice_g_var, twice_g_unsaid);
    for (int64_t i = 0; i < model_.din(); ++i) g_xu_[i] += g * model_.dimension[d].weight[i];
    if (run_.g_eps != nullptr) store(step_.at(run_.g_eps, t, d), step_.count, std * g);
    const Wide<S> g_var = twice_g_var * S(0.5), g_unsaid = twice_g_unsaid * S(0.5);
    slot_g_[at] = g;
    slot_floored_[at] = g_var - g_unsaid;
    Wide<S>& unsaid_sum = slot_unsaid_[slot * model_.dx + squares_of(d)];
    unsaid_sum = squares_of(d) == d ? g_unsaid : unsaid_sum + g_unsaid;
    add_simple_sums(lanes_ + d * at_.in_lanes, g, g_var, g_unsaid);
    if (!model_.shared || d + 1 == model_.dx) pull_through_kernel(set, slot);
  }

  void look(int64_t d, int64_t t, int64_t slot) {
    if (tape_.any()) return step_.look_again(d, t, tape_);
    step_.a = a_of(d) + slot * a_stride_;
    step_.look(d);
  }

  // a of the first step that is waiting, of the set that dimension d has.
  Wide<S>* a_of(int64_t d) const {
    return slot_a_ + model_.set_of(d) * (tape_.any() ? tape_.size : model_.padded());
  }

  // Whose outer products a a' dimension d's are added to: without V only the sum over a shared set
  // is needed.
  int64_t squares_of(int64_t d) const { return model_.spread ? d : model_.set_of(d); }

  // d loss / d a through dimension d: of its own, or added to that of the dimensions with the same
  // a.
  void add_g_a(int64_t d, Wide<S> g, Wide<S> twice_g_var, Wide<S> twice_g_unsaid) {
    const int64_t padded = model_.padded();
    const bool first = model_.set_of(d) == d;
    const Wide<S>* mean = step_.mean + d * padded;
    Wide<S>* g_a = first ? g_a_ : g_a_more_;
    if (model_.spread) lower_times(model_.dimension[d].spread_rows, step_.c, model_.tiles, g_a);
    for (int64_t p = 0; p < padded; ++p) {
      const Wide<S> direct = mean[p] * g - twice_g_unsaid * step_.a[p];
      g_a[p] = model_.spread ? direct + twice_g_var * g_a[p] : direct;
    }
    for (int64_t p = 0; !first && p < padded; ++p) g_a_[p] += g_a_more_[p];
  }

  // From d loss / d a to the states and inputs, through the kernel of one set.
  void pull_through_kernel(int64_t set, int64_t slot) {
    const Dimension<S>& k = model_.dimension[set];
    const Wide<S> w_sum =
        through_kernel(k, slot_w_ + (slot * model_.sets() + set) * model_.padded());
    const S log2 = Exponential<S>::kTerm[0];
    Vector* squares = lanes_ + set * at_.in_lanes + at_.squares;
    for (int64_t i = 0; i < model_.din(); ++i) {
      const Wide<S> x = step_.xu[i];
      g_xu_[i] += (pull_[i] - step_.scaled[i] * w_sum * S(2)) * (log2 * k.scale[i]);
      add(squares[i], x * x * w_sum);
    }
  }

  // w_p = e_p d loss / d e_p, its sum, and pull_i = sum_p w_p 2 zeta'_pi for the states (and the
  // inputs, if wanted).
  Wide<S> through_kernel(const Dimension<S>& k, Wide<S>* w) {
    const int64_t din = model_.din(), wanted = run_.g_u == nullptr ? model_.dx : din;
    for (int64_t i = 0; i < din; ++i) pull_[i] = all(S(0));
    Wide<S> w_sum = all(S(0));
    transposed_times(k.white_cols, g_a_, model_.tiles, w);
    for (int64_t tile = 0; tile < model_.tiles; ++tile, w += kTile) {
      const Wide<S>* e = step_.e + kTile * tile;
      const Wide<S> here[kTile] = {w[0] * e[0], w[1] * e[1], w[2] * e[2], w[3] * e[3]};
#pragma GCC unroll 4
      for (int r = 0; r < kTile; ++r) w[r] = here[r];
      w_sum += (here[0] + here[1]) + (here[2] + here[3]);
      const S* zeta = k.twice_zeta + tile * din * kTile;
      for (int64_t i = 0; i < wanted; ++i, zeta += kTile) {
        pull_[i] +=
            (here[0] * zeta[0] + here[1] * zeta[1]) + (here[2] * zeta[2] + here[3] * zeta[3]);
      }
    }
    return w_sum;
  }

  static void add(Vector& sum, const Wide<S>& x) { sum += x.part[0] + x.part[1]; }

  void add_simple_sums(Vector* lanes, Wide<S> g, Wide<S> g_var, Wide<S> g_unsaid) {
    for (int64_t i = 0; i < model_.din(); ++i) add(lanes[at_.weight + i], step_.xu[i] * g);
    add(lanes[at_.g_sum], g);
    add(lanes[at_.g_var], g_var);
    add(lanes[at_.g_unsaid], g_unsaid);
  }

  // The products of the steps that are waiting.
  void add_products(int64_t d, int64_t slots) {
    const int64_t stride = model_.sets() * model_.padded(), columns = moment_columns(model_.din());
    Vector* lanes = lanes_ + d * at_.in_lanes;
    add_slope(d, slots);
    if (squares_of(d) == d) add_squares(d, slots, slot_unsaid_, lanes + at_.said);
    if (model_.spread && any_floored(d, slots))
      add_squares(d, slots, slot_floored_, lanes + at_.floored);
    if (model_.set_of(d) != d) return;
    const Wide<S>* w = slot_w_ + d * model_.padded();
    for (int64_t tile = 0; tile < model_.tiles; ++tile) {
      add_outer(w + tile * kTile, stride, slot_xu_, columns, columns, slots,
                lanes + at_.moments + tile * kTile * columns);
    }
  }

  // sum += factor a a', lower tiles.
  void add_squares(int64_t d, int64_t slots, const Wide<S>* factor, Vector* sum) {
    const int64_t padded = model_.padded();
    const Wide<S>* a = a_of(d);
    for (int64_t slot = 0; slot < slots; ++slot) {
      const Wide<S> here = factor[slot * model_.dx + d];
      for (int64_t p = 0; p < padded; ++p)
        weighted_[slot * padded + p] = a[slot * a_stride_ + p] * here;
    }
    for (int64_t tile = 0; tile < model_.tiles; ++tile) {
      add_outer(weighted_ + tile * kTile, padded, a, a_stride_, kTile * (tile + 1), slots,
                sum + triangle(tile));
    }
  }

  // slope += g a.
  void add_slope(int64_t d, int64_t slots) {
    const int64_t padded = model_.padded();
    const Wide<S>* a = a_of(d);
    for (int64_t p = 0; p < padded; ++p) {
      Wide<S> sum = slope_[d * padded + p];
      for (int64_t slot = 0; slot < slots; ++slot)
        sum += a[slot * a_stride_ + p] * slot_g_[slot * model_.dx + d];
      slope_[d * padded + p] = sum;
    }
  }

  // Was the floor of the variance active anywhere in the steps that are waiting? (A NaN counts.)
  bool any_floored(int64_t d, int64_t slots) const {
    typename Register<S>::Bits differs = {};
    const Vector zero = {};
    for (int64_t slot = 0; slot < slots; ++slot) {
      for (const Vector& part : slot_floored_[slot * model_.dx + d].part) differs |= part != zero;
    }
    for (int lane = 0; lane < kWidth<S>; ++lane) {
      if (differs[lane] != 0) return true;
    }
    return false;
  }

  // Add this block's sums, lane after lane, to those of the blocks before it.
  void finish(int64_t d, double* sums) {
    const int64_t padded = model_.padded();
    const Wide<S>*slope = slope_ + d * padded, *mean = step_.mean + d * padded;
    auto both = [](const Wide<S>& x) { return total<S>(x.part[0]) + total<S>(x.part[1]); };
    auto add_lanes = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) sums[i] += total<S>(lanes_[d * at_.in_lanes + i]);
    };
    add_lanes(0, at_.floored);
    if (model_.spread) add_lanes(at_.floored, at_.moments);  // else nothing was added there
    add_lanes(at_.moments, at_.in_lanes);
    for (int64_t p = 0; p < padded; ++p) sums[at_.slope + p] += both(slope[p]);
    if (!model_.own_mean) return;
    for (int64_t p = 0; p < model_.points; ++p) {
      for (int64_t q = 0; q <= p; ++q) sums[at_.cross + p * padded + q] += both(mean[p] * slope[q]);
    }
    for (int64_t p = 0; p < model_.points; ++p) {
      store(run_.g_mean + (d * model_.points + p) * run_.batch + step_.first, step_.count,
            slope[p]);
    }
  }

  const Model<S>& model_;
  const Run<S>& run_;
  Step<S> step_;
  const Tape<S> tape_;
  const Sums at_;
  const int64_t slots_;
  NeuronsBack<S> neurons_;
  int64_t a_stride_;  // from the a of a step that is waiting to that of the next one
  Vector* lanes_;     // the sums of this block, lanes apart
  Wide<S>*slope_, *g_a_, *g_a_more_, *g_, *g_xu_, *pull_, *slot_a_, *slot_w_, *slot_g_,
      *slot_unsaid_, *slot_floored_, *slot_xu_, *weighted_;
};

}  // namespace
