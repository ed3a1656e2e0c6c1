// Free runs of a trained PR-SSM: trajectories and their noise-free outputs from given first states
// and random numbers.
#include <new>

#include "functions.h"
#include "threads.h"
#include "variants.h"

namespace prssm {
namespace {

template <class S>
bool free_run(const Sizes& n, const Offsets& at, const double* theta, const double* u, const S* x1,
              const S* eps, const S* noise, S* states, S* outputs) {
  Functions<S> functions(n, at);
  if (!functions.condition(theta)) return false;
  functions.draw(noise);
  const PackedModel<S> packed(functions.shape, functions.given);
  const Model<S> model = packed.model();
  const Kernel<S>& kernel = chosen_kernel<S>();
  const int64_t B = n.trajectories();
  std::vector<S> inputs(static_cast<size_t>(n.steps * n.du * B));
  for (int64_t row = 0; row < n.steps * n.du; ++row)
    std::fill(&inputs[row * B], &inputs[row * B] + B, S(u[row]));
  Run<S> run{};
  run.steps = n.steps;
  run.batch = B;
  run.x1 = x1;
  run.u = inputs.data();
  run.eps = eps;
  run.mean = functions.v.data();
  run.states = states;
  const int64_t blocks = (B + kernel.lanes - 1) / kernel.lanes,
                workers = std::min(usable_threads(), blocks);
  const auto scratch = scratch_for(workers, kernel.scratch_bytes(model));
  run_jobs(blocks, workers, [&](int64_t worker, int64_t block) {
    kernel.forward(model, run, block, scratch[worker].get());
  });
  for (int64_t t = 0; t < n.steps; ++t) {
    for (int64_t j = 0; j < n.dy; ++j) {
      S* to = outputs + (t * n.dy + j) * B;
      double base = at.states < 0 ? 0.0 : theta[at.offset + j];
      for (int64_t i = 0; i < n.du && at.states >= 0; ++i)
        base += theta[at.inputs + j * n.du + i] * u[t * n.du + i];
      std::fill(to, to + B, S(base));
      for (int64_t d = 0; d < n.dx; ++d) {
        const S weight = at.states < 0 ? S(d == j ? 1 : 0) : S(theta[at.states + j * n.dx + d]);
        const S* x = states + (t * n.dx + d) * B;
        for (int64_t b = 0; weight != S(0) && b < B; ++b) to[b] += weight * x[b];
      }
    }
  }
  return true;
}

}  // namespace
}  // namespace prssm

// `theta` is one row of parameters, u (T, Du), x1 (Dx, B), eps and states (T, Dx, B), noise (Dx, P,
// B), outputs (T, Dy, B). Returns 0; 1 where memory did not suffice, 2 where a covariance is not
// positive definite.
extern "C" int prssm_free_run(const prssm::Sizes* n, const prssm::Offsets* at, const double* theta,
                              const double* u, const void* x1, const void* eps, const void* noise,
                              void* states, void* outputs, int64_t single) {
  auto run = [&](auto zero) {
    using S = decltype(zero);
    auto in = [](const void* array) { return static_cast<const S*>(array); };
    return prssm::free_run<S>(*n, *at, theta, u, in(x1), in(eps), in(noise),
                              static_cast<S*>(states), static_cast<S*>(outputs));
  };
  try {
    return (single ? run(0.0f) : run(0.0)) ? 0 : 2;
  } catch (const std::bad_alloc&) {
    return 1;
  }
}
