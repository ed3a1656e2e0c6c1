// The native engine behind jax.ffi: checks a call, packs the parameters, runs blocks of
// trajectories on threads and turns their sums into gradients. Sums are added in an order that does
// not depend on the number of threads.
#include "call.h"
#include "gradients.h"
#include "threads.h"
#include "variants.h"

namespace prssm {

namespace {

constexpr int64_t kGroups = 128;         // how many sums of blocks are kept apart, at most
constexpr int64_t kThreadWork = 500000;  // multiplications that are worth a thread

// All models of a call, ready for the kernel.
template <class S>
struct Prepared {
  explicit Prepared(const Call& call)
      : kernel(chosen_kernel<S>()), blocks((call.batch + kernel.lanes - 1) / kernel.lanes) {
    packed.reserve(static_cast<size_t>(call.model_count));  // the models point into it
    for (int64_t m = 0; m < call.model_count; ++m) {
      parameters.push_back(call.parameters(m));
      packed.emplace_back(call.shape, parameters.back());
      model.push_back(packed.back().model());
      run.push_back({});
      run.back().steps = call.steps;
      run.back().batch = call.batch;
      run.back().u = array(call.in[kU], m, call);
      run.back().eps = array(call.in[kEps], m, call);
      if (call.shape.own_mean) run.back().mean = array(call.in[kMean], m, call);
    }
  }

  static S* array(const Array& given, int64_t m, const Call& call) {
    return given.of_model<S>(m, call.models);
  }

  int64_t workers(const Call& call, int64_t jobs) const {
    const Shape& shape = call.shape;
    const int64_t neurons = shape.neurons * (shape.dx + shape.din() + 20);
    const int64_t step = shape.dx * shape.points * (shape.points + shape.din() + 20) + neurons;
    const int64_t work = call.model_count * blocks * call.steps * step;
    return std::max<int64_t>(1, std::min({usable_threads(), jobs, 1 + work / kThreadWork}));
  }

  const Kernel<S>& kernel;
  const int64_t blocks;
  std::vector<Parameters> parameters;
  std::vector<PackedModel<S>> packed;
  std::vector<Model<S>> model;
  std::vector<Run<S>> run;
};

template <class S>
void forward(const Call& call) {
  Prepared<S> all(call);
  for (int64_t m = 0; m < call.model_count; ++m) {
    all.run[m].x1 = all.array(call.in[kStates], m, call);
    all.run[m].states = all.array(call.out[0], m, call);
  }
  const int64_t jobs = call.model_count * all.blocks, workers = all.workers(call, jobs);
  const auto scratch = scratch_for(workers, all.kernel.scratch_bytes(all.model[0]));
  run_jobs(jobs, workers, [&](int64_t worker, int64_t job) {
    const int64_t m = job / all.blocks;
    all.kernel.forward(all.model[m], all.run[m], job % all.blocks, scratch[worker].get());
  });
}

// Sums of all groups of blocks -> gradients of all parameters.
template <class S>
void write_gradients(const Call& call, const Prepared<S>& all, int64_t groups, int64_t workers,
                     std::vector<double>& sums) {
  const Sums at = sums_of(all.model[0]);
  const NeuronSums neurons_at = neuron_sums_of(all.model[0]);
  const int64_t dx = call.shape.dx, group_size = all_sums(all.model[0]);
  std::vector<Parameters> g;
  for (const Parameters& like : all.parameters) g.push_back(zeros_like(like));
  // One job for each dimension, and one for the neurons, whose sums lie behind those of the
  // dimensions.
  run_jobs(call.model_count * (dx + 1), workers, [&](int64_t, int64_t job) {
    const int64_t m = job / (dx + 1), d = job % (dx + 1), size = d < dx ? at.size : neurons_at.size;
    double* total = sums.data() + m * groups * group_size + d * at.size;
    for (int64_t group = 1; group < groups; ++group) {
      for (int64_t i = 0; i < size; ++i) total[i] += total[group * group_size + i];
    }
    if (d < dx)
      DimensionGradient(call.shape, at, all.parameters[m], total, d).write(g[m]);
    else
      write_neurons(call.shape, neurons_at, total, g[m]);
  });
  for (int64_t m = 0; m < call.model_count; ++m) {
    auto assign = [&](Argument name, const std::vector<double>& values) {
      call.out[name].assign(m, call.models, values);
    };
    call.assign_sum(kZeta, m, g[m].zeta);
    call.assign_sum(kPrecision, m, g[m].precision);
    call.assign_sum(kVariance, m, g[m].variance);
    call.assign_sum(kWhite, m, g[m].white);
    assign(kSpread, g[m].spread);
    assign(kWeight, g[m].weight);
    assign(kBias, g[m].bias);
    assign(kProcessVar, g[m].process_var);
    assign(kNeuronOut, g[m].neuron_out);
    assign(kNeuronWeight, g[m].neuron_weight);
    assign(kNeuronBias, g[m].neuron_bias);
    if (!call.shape.own_mean) assign(kMean, g[m].mean);
  }
}

template <class S>
void backward(const Call& call) {
  Prepared<S> all(call);
  for (int64_t m = 0; m < call.model_count; ++m) {
    Run<S>& run = all.run[m];
    run.states = all.array(call.in[kStates], m, call);
    run.g_states = all.array(call.in[kGStates], m, call);
    run.g_x1 = all.array(call.out[kStates], m, call);
    auto optional = [&](Argument name, int64_t last_row) -> S* {
      if (call.out[name].size() == 0) return nullptr;
      S* result = all.array(call.out[name], m, call);
      std::fill(result + (call.steps - 1) * last_row, result + call.steps * last_row,
                S(0));  // nothing follows x_T
      return result;
    };
    run.g_u = optional(kU, call.shape.du * call.batch);
    run.g_eps = optional(kEps, call.shape.dx * call.batch);
    if (call.shape.own_mean) run.g_mean = all.array(call.out[kMean], m, call);
  }
  const int64_t groups = std::max<int64_t>(1, std::min(all.blocks, kGroups / call.model_count));
  const int64_t jobs = call.model_count * groups, workers = all.workers(call, jobs);
  const int64_t group_size = all_sums(all.model[0]);
  std::vector<double> sums(static_cast<size_t>(jobs * group_size), 0.0);
  const auto scratch = scratch_for(workers, all.kernel.scratch_bytes(all.model[0]));
  run_jobs(jobs, workers, [&](int64_t worker, int64_t job) {
    const int64_t m = job / groups, group = job % groups;
    for (int64_t block = group * all.blocks / groups; block < (group + 1) * all.blocks / groups;
         ++block) {
      all.kernel.backward(all.model[m], all.run[m], block, scratch[worker].get(),
                          &sums[job * group_size]);
    }
  });
  write_gradients(call, all, groups, workers, sums);
}

template <class Work>
ffi::Error checked(ffi::RemainingArgs args, ffi::RemainingRets rets, size_t states_rank,
                   Work work) {
  try {
    work(Call(args, rets, states_rank));
  } catch (const Mistake& mistake) {
    return ffi::Error::InvalidArgument("prssm native rollout: " + mistake.message);
  } catch (const std::bad_alloc&) {
    return ffi::Error(ffi::ErrorCode::kResourceExhausted, "prssm native rollout: out of memory");
  }
  return ffi::Error::Success();
}

ffi::Error forward_call(ffi::RemainingArgs args, ffi::RemainingRets rets) {
  return checked(args, rets, 2, [](const Call& call) {
    call.type == ffi::F32 ? forward<float>(call) : forward<double>(call);
  });
}

ffi::Error backward_call(ffi::RemainingArgs args, ffi::RemainingRets rets) {
  return checked(args, rets, 3, [](const Call& call) {
    call.type == ffi::F32 ? backward<float>(call) : backward<double>(call);
  });
}

}  // namespace
}  // namespace prssm

XLA_FFI_DEFINE_HANDLER_SYMBOL(prssm_rollout_forward, prssm::forward_call,
                              prssm::ffi::Ffi::Bind().RemainingArgs().RemainingRets());
XLA_FFI_DEFINE_HANDLER_SYMBOL(prssm_rollout_backward, prssm::backward_call,
                              prssm::ffi::Ffi::Bind().RemainingArgs().RemainingRets());

#if defined(__clang__)
#define PRSSM_COMPILER "Clang " __clang_version__
#else
#define PRSSM_COMPILER "GCC " __VERSION__
#endif
extern "C" int prssm_interface_major() { return XLA_FFI_API_MAJOR; }
extern "C" int prssm_interface_minor() { return XLA_FFI_API_MINOR; }
extern "C" const char* prssm_compiler() { return PRSSM_COMPILER; }
extern "C" const char* prssm_variant() { return prssm::chosen_variant().name; }
