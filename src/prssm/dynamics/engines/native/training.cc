// Whole iterations of the training of PR-SSM, for many restarts at once: objective, gradient,
// clipping and Adam, without a word to Python in between. Called by trainer.py; the random numbers
// come from there.
#include <atomic>
#include <cmath>
#include <new>
#include <thread>

#include "objective.h"

namespace prssm {

// As training.schedule.Schedule: the step size falls along a cosine, the regulariser comes in
// linearly.
struct Schedule {
  double iterations, learning_rate, final_rate, ramp, clip;

  double rate(int64_t iteration) const {
    const double done = static_cast<double>(iteration) / std::max(iterations, 1.0);
    return final_rate + 0.5 * (learning_rate - final_rate) * (1.0 + std::cos(M_PI * done));
  }
  double weight(int64_t iteration) const {
    return std::min(1.0, (static_cast<double>(iteration) + 1.0) / std::max(ramp, 1.0));
  }
};

// What each restart has of its own; `part` says which of the parts of the data it is shown.
struct Restarts {
  int64_t count;
  const int64_t* part;
  const uint8_t* shown;                                        // (parts, rows)
  const int64_t* starts;                                       // (parts, windows)
  const double* steps;                                         // (parts)
  const double* anchors;                                       // (count, size)
  const double *gp_weight, *anchor_precision, *memory_weight;  // (count)
  double *theta, *first_moment, *second_moment;                // (count, size)
  int64_t* updates;                                            // (count) steps that Adam has taken
  int64_t* alive_until;  // (count) -1, or the iteration at which the restart was lost
};

// Random numbers of all iterations of a call.
struct Draws {
  const int64_t* windows;  // (iterations, batch)
  const void* eps;         // (iterations, T, Dx, B)
  const void* function;    // (iterations, Dx, P, B)
};

namespace {

constexpr double kMomentDecay = 0.9, kSquareDecay = 0.999,
                 kEpsilon = 1e-8;  // Adam's, as optax has them

template <class S>
Draw<S> draw_of(const Sizes& n, const Draws& all, int64_t iteration) {
  const int64_t B = n.trajectories();
  const S* function = static_cast<const S*>(all.function);
  return {all.windows + iteration * n.batch,
          static_cast<const S*>(all.eps) + iteration * n.steps * n.dx * B,
          function == nullptr ? nullptr : function + iteration * n.dx * n.points * B};
}

Own own_of(const Sizes& n, const Offsets& at, const Restarts& all, int64_t r) {
  const int64_t part = all.part[r];
  return {all.shown + part * n.rows, all.starts + part * n.windows,
          all.anchors + r * at.size, all.steps[part],
          all.gp_weight[r],          all.anchor_precision[r],
          all.memory_weight[r]};
}

bool finite(const std::vector<double>& g) {
  double sum = 0.0;
  for (const double value : g) sum += value * 0.0;  // NaN where any is not finite
  return sum == 0.0;
}

void adam(const Offsets& at, const Restarts& all, int64_t r, const std::vector<double>& g,
          double rate, double clip) {
  double square = 0.0;
  for (const double value : g) square += value * value;
  const double factor = std::min(1.0, clip / std::max(std::sqrt(square), 1e-300));
  const double count = static_cast<double>(++all.updates[r]);
  const double moment_share = 1.0 - std::pow(kMomentDecay, count),
               square_share = 1.0 - std::pow(kSquareDecay, count);
  double *theta = all.theta + r * at.size, *first = all.first_moment + r * at.size,
         *second = all.second_moment + r * at.size;
  for (int64_t i = 0; i < at.size; ++i) {
    const double descent = -factor * g[i];
    first[i] = kMomentDecay * first[i] + (1.0 - kMomentDecay) * descent;
    second[i] = kSquareDecay * second[i] + (1.0 - kSquareDecay) * descent * descent;
    theta[i] -= rate * (first[i] / moment_share) / (std::sqrt(second[i] / square_share) + kEpsilon);
  }
}

// Iterations `begin` to `end` of this call for restart r; its objectives are added to `sum`, NaN
// once it is lost.
template <class S>
void train_one(Objective<S>& objective, const Sizes& n, const Offsets& at, const Data& data,
               const Restarts& all, int64_t r, const Draws& draws, const Schedule& schedule,
               int64_t first, int64_t begin, int64_t end, std::vector<double>& g, double& sum) {
  const Own own = own_of(n, at, all, r);
  for (int64_t i = begin; i < end && !std::isnan(sum); ++i) {
    const int64_t iteration = first + i;
    const double value =
        objective.value_and_gradient(all.theta + r * at.size, data, own, draw_of<S>(n, draws, i),
                                     schedule.weight(iteration), g.data());
    sum += value;
    if (all.alive_until[r] >= 0) continue;
    if (!std::isfinite(value) || !finite(g)) {
      all.alive_until[r] = iteration;
      sum = NAN;
      return;
    }
    adam(at, all, r, g, schedule.rate(iteration), schedule.clip);
  }
}

// A call is cut into so many parts, so that threads share restarts evenly whose number they do not
// divide.
constexpr int64_t kParts = 8;

template <class S>
void train(const Sizes& n, const Offsets& at, const Data& data, const Restarts& all,
           const Draws& draws, const Schedule& schedule, int64_t first, int64_t iterations,
           double* values) {
  const int64_t threads = usable_threads(),
                workers = std::max<int64_t>(1, std::min(threads, all.count));
  const int64_t inner = std::max<int64_t>(1, threads / workers);
  std::vector<Objective<S>> objectives;
  objectives.reserve(static_cast<size_t>(workers));
  for (int64_t i = 0; i < workers; ++i) objectives.emplace_back(n, at, inner);
  std::vector<std::vector<double>> gradients(static_cast<size_t>(workers),
                                             std::vector<double>(static_cast<size_t>(at.size)));
  std::fill(values, values + all.count, 0.0);
  std::vector<std::atomic<int64_t>> done(static_cast<size_t>(all.count));  // parts of each restart
  for (auto& parts : done) parts = 0;
  const int64_t parts = std::min(kParts, iterations);
  // All restarts have their first part before any has its second; each waits for its own part
  // before, which began earlier.
  run_jobs(parts * all.count, workers, [&](int64_t worker, int64_t index) {
    const int64_t part = index / all.count, r = index % all.count;
    while (done[r].load(std::memory_order_acquire) < part) std::this_thread::yield();
    train_one(objectives[worker], n, at, data, all, r, draws, schedule, first,
              iterations * part / parts, iterations * (part + 1) / parts, gradients[worker],
              values[r]);
    done[r].store(part + 1, std::memory_order_release);
  });
  for (int64_t r = 0; r < all.count; ++r) values[r] /= static_cast<double>(iterations);
}

}  // namespace
}  // namespace prssm

// Returns 0, or 1 where memory did not suffice.
extern "C" int prssm_train(const prssm::Sizes* n, const prssm::Offsets* at, const prssm::Data* data,
                           const prssm::Restarts* restarts, const prssm::Draws* draws,
                           const prssm::Schedule* schedule, int64_t first, int64_t iterations,
                           int64_t single, double* values) {
  try {
    auto run = single ? prssm::train<float> : prssm::train<double>;
    run(*n, *at, *data, *restarts, *draws, *schedule, first, iterations, values);
    return 0;
  } catch (const std::bad_alloc&) {
    return 1;
  }
}

// Value and gradient of one restart at one iteration's draws: for tests against the oracle.
extern "C" double prssm_objective(const prssm::Sizes* n, const prssm::Offsets* at,
                                  const prssm::Data* data, const prssm::Restarts* restarts,
                                  const prssm::Draws* draws, int64_t restart, double kl_weight,
                                  int64_t single, double* gradient) {
  const prssm::Own own = prssm::own_of(*n, *at, *restarts, restart);
  const double* theta = restarts->theta + restart * at->size;
  auto run = [&](auto zero) {
    using S = decltype(zero);
    prssm::Objective<S> objective(*n, *at, prssm::usable_threads());
    return objective.value_and_gradient(theta, *data, own, prssm::draw_of<S>(*n, *draws, 0),
                                        kl_weight, gradient);
  };
  return single ? run(0.0f) : run(0.0);
}
