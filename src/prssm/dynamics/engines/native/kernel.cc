// One block of trajectories through all steps, forward and backward, for the squared-exponential
// kernel. Compiled once for each kind of processor: PRSSM_VARIANT names the copy.
#include "backward.h"

namespace {

template <class S>
void forward(const Model<S>& model, const Run<S>& run, int64_t block, void* scratch) {
  Arena arena(scratch);
  Step<S> step(model, run, block, arena);
  const Tape<S> tape(model, run, block);
  Neurons<S> neurons(model, 1, arena);
  for (int64_t i = 0; i < model.dx; ++i) step.x[i] = load(step.at(run.x1, 0, i), step.count);
  for (int64_t t = 0; t < run.steps; ++t) {
    for (int64_t i = 0; i < model.dx; ++i) store(step.at(run.states, t, i), step.count, step.x[i]);
    if (t + 1 == run.steps) break;
    step.read(t);
    step.prefetch(run.eps, t + 1, model.dx);
    step.prefetch(run.u, t + 1, model.du);
    const Wide<S>* added = nullptr;
    if (neurons.any()) {
      neurons.look(step.xu, 0);
      added = neurons.add(0);
    }
    for (int64_t d = 0; d < model.dx; ++d) {
      if (model.set_of(d) == d) {
        if (tape.any()) {
          step.e = tape.e(t, d);
          step.a = tape.a(t, d);
        }
        step.look(d);
        if (tape.any()) tape.unsaid(t, d) = step.unsaid;
      }
      Wide<S> x = step.predicted_mean(d) + model.dimension[d].bias;
      for (int64_t i = 0; i < model.din(); ++i) x += step.xu[i] * model.dimension[d].weight[i];
      if (added != nullptr) x += added[d];
      step.x[d] = x + root(step.predicted_variance(d)) * load(step.at(run.eps, t, d), step.count);
    }
  }
}

template <class S>
void backward(const Model<S>& model, const Run<S>& run, int64_t block, void* scratch,
              double* sums) {
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
constexpr Kernel<S> kernel() {
  return {kLanes<S>, scratch_bytes<S>, Tape<S>::bytes, forward<S>, backward<S>};
}

}  // namespace

#define PRSSM_TEXT(name) #name
#define PRSSM_NAME(name) PRSSM_TEXT(name)

namespace prssm {
extern const Variant PRSSM_VARIANT;
const Variant PRSSM_VARIANT = {PRSSM_NAME(PRSSM_VARIANT), kernel<float>(), kernel<double>()};
}  // namespace prssm
