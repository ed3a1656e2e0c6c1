// The rollout on a GPU behind jax.ffi: chooses how the work is cut and launches the kernels.
#include <type_traits>

#include "call.h"
#include "forward_many.h"
#include "gradients.h"

namespace prssm {
namespace {

constexpr int kWarpsWanted = 16;  // on a processor, at least
constexpr int kBlocksWanted = 2;  // of trajectories on a processor, at least

void expect(const std::string& failure, const char* kernel) {
  if (!failure.empty()) throw Mistake{std::string(kernel) + ": " + failure};
}

unsigned blocks_for(int64_t count, int64_t size) { return static_cast<unsigned>((count + size - 1) / size); }

// work(N) with the number of points of a thread as a constant.
template <class Work>
void with_points(int points, Work work) {
  if (points == 4) work(std::integral_constant<int, 4>());
  else if (points == 2) work(std::integral_constant<int, 2>());
  else if (points == 1) work(std::integral_constant<int, 1>());
  else throw Mistake{"too many inducing points for this GPU's shared memory"};
}

// How many points a thread should take: more save loads, but need memory that other teams could use. 0 where not even one
// fits.
template <class Bytes>
int best_points(int warps, Bytes bytes) {
  int best = 0;
  double score = 0.0;
  for (const int points : {1, 2, 4}) {
    const int64_t fitting = warps * (shared_memory_limit() / bytes(points));
    const double loads_saved = 1.0 / (0.25 + 1.0 / points);
    const double here = static_cast<double>(fitting < kWarpsWanted ? fitting : kWarpsWanted) * loads_saved;
    if (here > score) best = points, score = here;
  }
  return best;
}

// Runs the recursion with several trajectories to a thread; false where there are too few of them.
template <class S>
bool run_many(Stream stream, const Call<S>& call, int warps, const Trajectories<S>& run) {
  const Shape& s = call.shape;
  for (const int points : {4, 2}) {
    const dim3 grid{blocks_for(s.batch, kWarp * points), static_cast<unsigned>(call.models)};
    const int64_t bytes = forward_many_numbers(s, points, warps) * int64_t(sizeof(S));
    if (grid.x * call.models < processors() || bytes > shared_memory_limit()) continue;
    with_points(points, [&](auto n) {
      expect(launch(forward_many<S, n()>, grid, kWarp * warps, bytes, stream, s, call.given(), run), "forward_many");
    });
    return true;
  }
  return false;
}

template <class S>
void run_forward(Stream stream, const Call<S>& call) {
  const Shape& s = call.shape;
  const int warps = s.dx < kForwardWarps ? s.dx : kForwardWarps;
  const Trajectories<S> run{call.in(0), call.in(1), call.in(2), call.out(0, call.models * s.steps * s.dx * s.batch)};
  if (run_many(stream, call, warps, run)) return;
  int points = 4;  // of a block: an entry of a matrix, loaded once, serves them all
  bool resident = s.dx <= warps;
  auto blocks = [&] { return call.models * blocks_for(s.batch, points); };
  auto bytes = [&] { return forward_numbers(s, points, warps, resident) * int64_t(sizeof(S)); };
  while (points > 1 && blocks() < kBlocksWanted * processors()) points /= 2;
  resident = resident && bytes() <= shared_memory_limit();
  while (points > 1 && bytes() > shared_memory_limit()) points /= 2;
  const dim3 grid{blocks_for(s.batch, points), static_cast<unsigned>(call.models)};
  with_points(points, [&](auto n) {
    const auto kernel = resident ? forward<S, n(), true> : forward<S, n(), false>;
    expect(launch(kernel, grid, kWarp * warps, bytes(), stream, s, call.given(), run), "forward");
  });
}

template <class S>
void run_backward(Stream stream, const Call<S>& call, int points, int stretches) {
  const Shape& s = call.shape;
  const int64_t n = call.models, B = s.batch, later = s.steps - 1;
  if (points < 1 || stretches < 1) throw Mistake{"expected at least one point and stretch"};
  const unsigned slices = blocks_for(B, kWarp * points) * static_cast<unsigned>(stretches);
  const unsigned dx = static_cast<unsigned>(s.dx), models = static_cast<unsigned>(n);
  const Trajectories<S> run{nullptr, call.in(1), call.in(2), const_cast<S*>(call.in(0))};
  S *g = call.out(0, n * s.steps * s.din() * B), *deviation = call.out(1, n * later * s.dx * B);
  S *jacobian = call.out(2, n * later * s.dx * s.din() * B), *sums = call.out(3, n * slices * s.dx * sums_size(s));
  S* g_mean = call.out(4, s.own_mean ? n * stretches * s.dx * s.points * B : 0);
  const Given<S> given = call.given();
  const int warps = team(s);
  auto bytes = [&](int count) { return linearise_numbers(s, count, warps) * int64_t(sizeof(S)); };
  const int side_by_side = best_points(warps, bytes);
  if (later > 0) {
    with_points(side_by_side, [&](auto k) {
      const dim3 grid{blocks_for(later * B, kWarp * k()), dx, models};
      expect(launch(linearise<S, k()>, grid, kWarp * warps, bytes(k()), stream, s, given, run, jacobian, deviation),
             "linearise");
    });
  }
  const int rows = s.din() < kCotangentRows ? s.din() : kCotangentRows;
  const int64_t two_rows = 2 * s.dx * kTogether * int64_t(sizeof(S));
  expect(launch(cotangents<S>, dim3{blocks_for(B, kTogether), models}, kTogether * rows, two_rows, stream, s,
                static_cast<const S*>(jacobian), call.in(kArguments), g), "cotangents");
  with_points(points, [&](auto k) {
    const int64_t size = gradients_numbers(s, k(), warps) * int64_t(sizeof(S));
    expect(launch(gradients<S, k()>, dim3{slices, dx, models}, kWarp * warps, size, stream, s, given, run, static_cast<const S*>(g), stretches, sums, g_mean), "gradients");
  });
}

// work(Call<S>) in the precision of the call.
template <class Work>
ffi::Error checked(ffi::RemainingArgs args, ffi::RemainingRets rets, ffi::Span<const int64_t> sizes, size_t arguments,
                   Work work) {
  try {
    const auto first = args.get<ffi::AnyBuffer>(0);
    if (first.has_value() && first->element_type() == ffi::F32) work(Call<float>(args, rets, sizes, arguments));
    else work(Call<double>(args, rets, sizes, arguments));
  } catch (const Mistake& mistake) {
    return ffi::Error::InvalidArgument("prssm CUDA rollout: " + mistake.message);
  }
  return ffi::Error::Success();
}

ffi::Error forward_call(Stream stream, ffi::RemainingArgs args, ffi::RemainingRets rets, ffi::Span<const int64_t> sizes) {
  return checked(args, rets, sizes, kArguments, [&](const auto& call) { run_forward(stream, call); });
}

ffi::Error backward_call(Stream stream, ffi::RemainingArgs args, ffi::RemainingRets rets, ffi::Span<const int64_t> sizes,
                         int64_t points, int64_t stretches) {
  return checked(args, rets, sizes, kArguments + 1, [&](const auto& call) {
    run_backward(stream, call, static_cast<int>(points), static_cast<int>(stretches));
  });
}

}  // namespace
}  // namespace prssm

// The kernels only wait in their stream, so XLA may record them into its graphs.
XLA_FFI_DEFINE_HANDLER_SYMBOL(prssm_cuda_forward, prssm::forward_call,
                              prssm::ffi::Ffi::Bind().Ctx<prssm::StreamContext>().RemainingArgs().RemainingRets()
                                  .Attr<prssm::ffi::Span<const int64_t>>("sizes"),
                              {prssm::ffi::Traits::kCmdBufferCompatible});
XLA_FFI_DEFINE_HANDLER_SYMBOL(prssm_cuda_backward, prssm::backward_call,
                              prssm::ffi::Ffi::Bind().Ctx<prssm::StreamContext>().RemainingArgs().RemainingRets()
                                  .Attr<prssm::ffi::Span<const int64_t>>("sizes")
                                  .Attr<int64_t>("points").Attr<int64_t>("stretches"),
                              {prssm::ffi::Traits::kCmdBufferCompatible});

// Points of a thread of `gradients`, which Python must know to lay out its result; 0 where the shared memory is too small.
extern "C" int64_t prssm_gradient_points(int64_t dx, int64_t du, int64_t points, bool spread, bool own_mean,
                                         int64_t number_size) {
  const prssm::Shape s{static_cast<int>(dx), static_cast<int>(du), static_cast<int>(points), 1, 1, spread, own_mean};
  const int warps = prssm::team(s);
  return prssm::best_points(warps, [&](int count) { return prssm::gradients_numbers(s, count, warps) * number_size; });
}

#ifdef PRSSM_EMULATED
#define PRSSM_CUDA_COMPILER "a C++ compiler, for tests"
#else
#define PRSSM_TEXT_OF(number) #number
#define PRSSM_TEXT(number) PRSSM_TEXT_OF(number)
#define PRSSM_CUDA_COMPILER "nvcc " PRSSM_TEXT(__CUDACC_VER_MAJOR__) "." PRSSM_TEXT(__CUDACC_VER_MINOR__)
#endif
extern "C" int prssm_cuda_interface_major() { return XLA_FFI_API_MAJOR; }
extern "C" int prssm_cuda_interface_minor() { return XLA_FFI_API_MINOR; }
extern "C" const char* prssm_cuda_compiler() { return PRSSM_CUDA_COMPILER; }
