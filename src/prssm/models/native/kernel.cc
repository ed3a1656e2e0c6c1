// One block of trajectories through all steps, forward and backward, for the squared-exponential kernel.
// The backward pass recomputes e, a and c from the saved states. docs/adjoint.md derives every formula.
// Compiled once for each kind of processor: PRSSM_VARIANT names the copy.
#include "step.h"

namespace {

constexpr int64_t kSlotBytes = 384 * 1024;  // what waits for its outer products should stay in the second-level cache

template <class S>
void forward(const Model<S>& model, const Run<S>& run, int64_t block, void* scratch) {
  Arena arena(scratch);
  Step<S> step(model, run, block, arena);
  for (int64_t i = 0; i < model.dx; ++i) step.x[i] = load(step.at(run.x1, 0, i), step.count);
  for (int64_t t = 0; t < run.steps; ++t) {
    for (int64_t i = 0; i < model.dx; ++i) store(step.at(run.states, t, i), step.count, step.x[i]);
    if (t + 1 == run.steps) break;
    step.read(t);
    step.prefetch(run.eps, t + 1, model.dx), step.prefetch(run.u, t + 1, model.du);
    for (int64_t d = 0; d < model.dx; ++d) {
      const auto f = step.predict(d);
      Wide<S> x = f.mean + model.dimension[d].bias;
      for (int64_t i = 0; i < model.din(); ++i) x += step.xu[i] * model.dimension[d].weight[i];
      step.x[d] = x + root(f.variance) * load(step.at(run.eps, t, d), step.count);
    }
  }
}

// The backward pass of one block. Outer products over steps wait until several steps can be added at once ("slots").
template <class S>
class Backward {
  using Vector = typename Register<S>::Vector;

 public:
  Backward(const Model<S>& model, const Run<S>& run, int64_t block, Arena& arena)
      : model_(model), run_(run), step_(model, run, block, arena), at_(sums_of(model)), slots_(slots_of(model)) {
    const int64_t dx = model.dx, padded = model.padded();
    arena.take(lanes_, dx * at_.in_lanes), arena.take(slope_, dx * padded), arena.take(g_a_, padded);
    arena.take(weighted_, slots_ * padded), arena.take(slot_g_, slots_ * dx);
    arena.take(g_, dx), arena.take(g_xu_, model.din()), arena.take(pull_, model.din());
    arena.take(slot_a_, slots_ * dx * padded), arena.take(slot_w_, slots_ * dx * padded);
    arena.take(slot_unsaid_, slots_ * dx), arena.take(slot_floored_, slots_ * dx);
    arena.take(slot_xu_, slots_ * moment_columns(model.din()));
  }

  void operator()(double* sums) {
    clear();
    const int64_t last = run_.steps - 1;
    for (int64_t d = 0; d < model_.dx; ++d) g_[d] = load_or_zero(step_.at(run_.g_states, last, d), step_.count);
    int64_t waiting = 0;
    for (int64_t t = last - 1; t >= 0; --t) {
      step_back(t, waiting++);
      if (waiting == slots_ || t == 0) {
        for (int64_t d = 0; d < model_.dx; ++d) add_products(d, waiting);
        waiting = 0;
      }
    }
    for (int64_t d = 0; d < model_.dx; ++d) store(step_.at(run_.g_x1, 0, d), step_.count, g_[d]);
    for (int64_t d = 0; d < model_.dx; ++d) finish(d, sums + d * at_.size);
  }

 private:
  static int64_t slots_of(const Model<S>& model) {
    const int64_t fit = kSlotBytes / (2 * model.dx * model.padded() * static_cast<int64_t>(sizeof(Wide<S>)));
    return fit < 2 ? 2 : fit > kSlots ? kSlots : fit;
  }

  void clear() {
    memset(lanes_, 0, static_cast<size_t>(model_.dx * at_.in_lanes) * sizeof(Vector));
    memset(slope_, 0, static_cast<size_t>(model_.dx * model_.padded()) * sizeof(Wide<S>));
    const int64_t columns = moment_columns(model_.din());
    for (int64_t slot = 0; slot < slots_; ++slot) {
      for (int64_t i = model_.din(); i < columns; ++i) slot_xu_[slot * columns + i] = all(i == model_.din() ? S(1) : S(0));
    }
  }

  // From g = d loss / d x_{t+1} to d loss / d x_t; what parameter gradients need is kept in `slot`.
  void step_back(int64_t t, int64_t slot) {
    for (int64_t i = 0; i < model_.dx; ++i) step_.x[i] = load(step_.at(run_.states, t, i), step_.count);
    step_.read(t);
    if (t > 0) {
      step_.prefetch(run_.states, t - 1, model_.dx), step_.prefetch(run_.eps, t - 1, model_.dx);
      step_.prefetch(run_.g_states, t - 1, model_.dx), step_.prefetch(run_.u, t - 1, model_.du);
    }
    Wide<S>* columns = slot_xu_ + slot * moment_columns(model_.din());
    for (int64_t i = 0; i < model_.din(); ++i) columns[i] = step_.xu[i], g_xu_[i] = all(S(0));
    for (int64_t d = 0; d < model_.dx; ++d) pull_back(d, t, slot);
    for (int64_t d = 0; d < model_.dx; ++d) g_[d] = g_xu_[d] + load_or_zero(step_.at(run_.g_states, t, d), step_.count);
    if (run_.g_u == nullptr) return;
    for (int64_t i = 0; i < model_.du; ++i) store(step_.input_at(run_.g_u, t, i), step_.count, g_xu_[model_.dx + i]);
  }

  // Dimension d's share of one step back.
  void pull_back(int64_t d, int64_t t, int64_t slot) {
    const Dimension<S>& k = model_.dimension[d];
    const int64_t padded = model_.padded(), at = slot * model_.dx + d;
    step_.a = slot_a_ + at * padded;
    const auto f = step_.predict(d);
    const Wide<S> std = root(f.variance), g = g_[d];
    const Wide<S> twice_g_var = g * load(step_.at(run_.eps, t, d), step_.count) / std;
    const Wide<S> twice_g_unsaid = where_positive(f.unsaid, twice_g_var);
    const Wide<S>* mean = step_.mean + d * padded;
    if (model_.spread) lower_times(k.spread_rows, step_.c, model_.tiles, g_a_);
    for (int64_t p = 0; p < padded; ++p) {
      const Wide<S> direct = mean[p] * g - twice_g_unsaid * step_.a[p];
      g_a_[p] = model_.spread ? direct + twice_g_var * g_a_[p] : direct;
    }
    const Wide<S> w_sum = through_kernel(k, slot_w_ + at * padded);
    const S log2 = Exponential<S>::kTerm[0];
    for (int64_t i = 0; i < model_.din(); ++i) {
      g_xu_[i] += g * k.weight[i] + (pull_[i] - step_.scaled[i] * w_sum * S(2)) * (log2 * k.scale[i]);
    }
    if (run_.g_eps != nullptr) store(step_.at(run_.g_eps, t, d), step_.count, std * g);
    const Wide<S> g_var = twice_g_var * S(0.5), g_unsaid = twice_g_unsaid * S(0.5);
    slot_g_[at] = g, slot_unsaid_[at] = g_unsaid, slot_floored_[at] = g_var - g_unsaid;
    add_simple_sums(lanes_ + d * at_.in_lanes, g, g_var, g_unsaid, w_sum);
  }

  // w_p = e_p d loss / d e_p, its sum, and pull_i = sum_p w_p 2 zeta'_pi for the states (and the inputs, if wanted).
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
        pull_[i] += (here[0] * zeta[0] + here[1] * zeta[1]) + (here[2] * zeta[2] + here[3] * zeta[3]);
      }
    }
    return w_sum;
  }

  void add_simple_sums(Vector* lanes, Wide<S> g, Wide<S> g_var, Wide<S> g_unsaid, Wide<S> w_sum) {
    auto add = [](Vector& sum, const Wide<S>& x) { sum += x.part[0] + x.part[1]; };
    for (int64_t i = 0; i < model_.din(); ++i) {
      const Wide<S> x = step_.xu[i];
      add(lanes[at_.squares + i], x * x * w_sum), add(lanes[at_.weight + i], x * g);
    }
    add(lanes[at_.g_sum], g), add(lanes[at_.g_var], g_var), add(lanes[at_.g_unsaid], g_unsaid);
  }

  // The products of the steps that are waiting.
  void add_products(int64_t d, int64_t slots) {
    const int64_t stride = model_.dx * model_.padded(), columns = moment_columns(model_.din());
    Vector* lanes = lanes_ + d * at_.in_lanes;
    add_slope(d, slots);
    add_squares(d, slots, slot_unsaid_, lanes + at_.said);
    if (any_floored(d, slots)) add_squares(d, slots, slot_floored_, lanes + at_.floored);
    const Wide<S>* w = slot_w_ + d * model_.padded();
    for (int64_t tile = 0; tile < model_.tiles; ++tile) {
      add_outer(w + tile * kTile, stride, slot_xu_, columns, columns, slots, lanes + at_.moments + tile * kTile * columns);
    }
  }

  // sum += factor a a', lower tiles.
  void add_squares(int64_t d, int64_t slots, const Wide<S>* factor, Vector* sum) {
    const int64_t padded = model_.padded(), stride = model_.dx * padded;
    const Wide<S>* a = slot_a_ + d * padded;
    for (int64_t slot = 0; slot < slots; ++slot) {
      const Wide<S> here = factor[slot * model_.dx + d];
      for (int64_t p = 0; p < padded; ++p) weighted_[slot * padded + p] = a[slot * stride + p] * here;
    }
    for (int64_t tile = 0; tile < model_.tiles; ++tile) {
      add_outer(weighted_ + tile * kTile, padded, a, stride, kTile * (tile + 1), slots, sum + triangle(tile));
    }
  }

  // slope += g a.
  void add_slope(int64_t d, int64_t slots) {
    const int64_t padded = model_.padded();
    for (int64_t p = 0; p < padded; ++p) {
      Wide<S> sum = slope_[d * padded + p];
      for (int64_t slot = 0; slot < slots; ++slot) {
        sum += slot_a_[(slot * model_.dx + d) * padded + p] * slot_g_[slot * model_.dx + d];
      }
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
    for (int64_t i = 0; i < at_.in_lanes; ++i) sums[i] += total<S>(lanes_[d * at_.in_lanes + i]);
    for (int64_t p = 0; p < padded; ++p) sums[at_.slope + p] += both(slope[p]);
    if (!model_.own_mean) return;
    for (int64_t p = 0; p < padded; ++p) {
      for (int64_t q = 0; q < padded; ++q) sums[at_.cross + p * padded + q] += both(mean[p] * slope[q]);
    }
    for (int64_t p = 0; p < model_.points; ++p) {
      store(run_.g_mean + (d * model_.points + p) * run_.batch + step_.first, step_.count, slope[p]);
    }
  }

  const Model<S>& model_;
  const Run<S>& run_;
  Step<S> step_;
  const Sums at_;
  const int64_t slots_;
  Vector* lanes_;  // the sums of this block, lanes apart
  Wide<S>*slope_, *g_a_, *g_, *g_xu_, *pull_, *slot_a_, *slot_w_, *slot_g_, *slot_unsaid_, *slot_floored_,
      *slot_xu_, *weighted_;
};

template <class S>
void backward(const Model<S>& model, const Run<S>& run, int64_t block, void* scratch, double* sums) {
  Arena arena(scratch);
  Backward<S>(model, run, block, arena)(sums);
}

template <class S>
int64_t scratch_bytes(const Model<S>& model) {
  Arena counting(nullptr);
  const Run<S> nothing{};
  Backward<S>(model, nothing, 0, counting);
  return counting.used();
}

template <class S>
constexpr Kernel<S> kernel() { return {kLanes<S>, scratch_bytes<S>, forward<S>, backward<S>}; }

}  // namespace

#define PRSSM_TEXT(name) #name
#define PRSSM_NAME(name) PRSSM_TEXT(name)

namespace prssm {
extern const Variant PRSSM_VARIANT;
const Variant PRSSM_VARIANT = {PRSSM_NAME(PRSSM_VARIANT), kernel<float>(), kernel<double>()};
}  // namespace prssm
