// The rollout on a GPU behind jax.ffi: chooses how the work is cut and launches the kernels.
#include <type_traits>

#include "call.h"
#include "cotangents_staged.h"
#include "finish.h"
#include "forward_held.h"
#include "forward_many.h"
#include "forward_warp.h"
#include "recognition_call.h"
#include "whitener_call.h"

namespace prssm {
namespace {

constexpr int kWarpsWanted = 16;  // on a processor, at least
constexpr int kBlocksWanted = 2;  // of trajectories on a processor, at least

void expect(const std::string& failure, const char* kernel) {
  if (!failure.empty()) throw Mistake{std::string(kernel) + ": " + failure};
}

unsigned blocks_for(int64_t count, int64_t size) {
  return static_cast<unsigned>((count + size - 1) / size);
}

// work(N) with the number of points of a thread as a constant.
template <class Work>
void with_points(int points, Work work) {
  if (points == 4)
    work(std::integral_constant<int, 4>());
  else if (points == 2)
    work(std::integral_constant<int, 2>());
  else if (points == 1)
    work(std::integral_constant<int, 1>());
  else
    throw Mistake{"too many inducing points for this GPU's shared memory"};
}

// How many points a thread should take: more save loads, but need memory that other teams could
// use. 0 where not even one fits.
template <class Bytes>
int best_points(int warps, Bytes bytes) {
  int best = 0;
  double score = 0.0;
  for (const int points : {1, 2, 4}) {
    const int64_t fitting = warps * (shared_memory_limit() / bytes(points));
    const double loads_saved = 1.0 / (0.25 + 1.0 / points);
    const double here =
        static_cast<double>(fitting < kWarpsWanted ? fitting : kWarpsWanted) * loads_saved;
    if (here > score) {
      best = points;
      score = here;
    }
  }
  return best;
}

// work(T) with the number of tiles as a constant, where there are so few that vectors stay in
// registers and `bytes` of shared memory are there; else false.
template <int T = 1, class Work>
bool with_held(const Shape& s, int64_t bytes, Work work) {
  if constexpr (T > kHeldTiles) {
    return false;
  } else {
    if (s.tiles() != T) return with_held<T + 1>(s, bytes, work);
    if (bytes > shared_memory_limit()) return false;
    work(std::integral_constant<int, T>());
    return true;
  }
}

// Runs the recursion with several trajectories to a thread; false where there are too few of them.
template <class S, class R>
bool run_many(Stream stream, const Call<S, R>& call, const Given<S>& given, int warps,
              const Trajectories<S>& run) {
  const Shape& s = call.shape;
  const dim3 held{blocks_for(s.batch, kWarp * kHeldPoints), static_cast<unsigned>(call.models)};
  const int64_t held_bytes = forward_held_numbers(s) * int64_t(sizeof(S));
  if (held.x * call.models >= processors() && with_held(s, held_bytes, [&](auto tiles) {
        expect(launch(forward_held<S, kHeldPoints, tiles()>, held, kWarp * warps, held_bytes,
                      stream, s, given, run),
               "forward_held");
      })) {
    return true;
  }
  for (const int points : {4, 2}) {
    const dim3 grid{blocks_for(s.batch, kWarp * points), static_cast<unsigned>(call.models)};
    const int64_t bytes = forward_many_numbers(s, points, warps) * int64_t(sizeof(S));
    if (grid.x * call.models < processors() || bytes > shared_memory_limit()) continue;
    with_points(points, [&](auto n) {
      expect(launch(forward_many<S, n()>, grid, kWarp * warps, bytes, stream, s, given, run),
             "forward_many");
    });
    return true;
  }
  return false;
}

// Runs the recursion with a warp for each trajectory; false where its matrices do not fit into
// registers.
template <int kLanes, class S, class R>
bool run_warps(Stream stream, const Call<S, R>& call, const Given<S>& given,
               const Trajectories<S>& run) {
  const Shape& s = call.shape;
  if constexpr (sizeof(S) > sizeof(float))
    return false;
  else {
    if (s.dx > kWarp / kLanes || s.din() > kInputs || s.du >= kLanes) return false;
    const dim3 grid{blocks_for(s.batch, kTrajectoryWarps), static_cast<unsigned>(call.models)};
    return with_held(s, 0, [&](auto tiles) {
      const int64_t bytes = forward_warp_numbers(kLanes, tiles()) * int64_t(sizeof(S));
      expect(launch(forward_warp<S, kLanes, tiles()>, grid, kWarp * kTrajectoryWarps, bytes, stream,
                    s, given, run),
             "forward_warp");
    });
  }
}

// The parameters in records, for the kernels that follow.
template <class S, class R>
Given<S> run_lay_out(Stream stream, const Call<S, R>& call) {
  const Shape& s = call.shape;
  S* const records = call.out(1, call.models * s.dx * Places(s).size);
  const dim3 grid{static_cast<unsigned>(s.dx), static_cast<unsigned>(call.models)};
  expect(launch(lay_out<S, R>, grid, kLayOutThreads, 0, stream, s, call.parameters(), records),
         "lay_out");
  return call.given(records);
}

template <class S, class R>
void run_forward(Stream stream, const Call<S, R>& call) {
  const Shape& s = call.shape;
  const Given<S> given = run_lay_out(stream, call);
  const int warps = s.dx < kForwardWarps ? s.dx : kForwardWarps;
  const Trajectories<S> run{call.in(0), call.in(1), call.in(2),
                            call.out(0, call.models * s.steps * s.dx * s.batch)};
  if (run_many(stream, call, given, warps, run)) return;
  if (run_warps<8>(stream, call, given, run) || run_warps<4>(stream, call, given, run)) return;
  int points = 4;  // of a block: an entry of a matrix, loaded once, serves them all
  auto working = [&] { return forward_numbers(s, points, warps); };
  const int64_t limit = shared_memory_limit() / int64_t(sizeof(S));
  while (points > 1 && call.models * blocks_for(s.batch, points) < kBlocksWanted * processors())
    points /= 2;
  const int64_t matrices = warps * int64_t(matrix_numbers(s));
  const bool resident = s.dx <= warps && working() + matrices <= limit;
  while (points > 1 && working() > limit) points /= 2;
  const int64_t left = (limit - working() - matrices) / input_numbers(s);
  const int inputs = resident ? static_cast<int>(left < warps ? left : warps) : 0;
  const int64_t numbers =
      working() + (resident ? matrices + inputs * int64_t(input_numbers(s)) : 0);
  const dim3 grid{blocks_for(s.batch, points), static_cast<unsigned>(call.models)};
  with_points(points, [&](auto n) {
    const auto kernel = s.padded() > kWarp
                            ? (resident ? forward<S, n(), 2, true> : forward<S, n(), 2, false>)
                            : (resident ? forward<S, n(), 1, true> : forward<S, n(), 1, false>);
    expect(launch(kernel, grid, kWarp * warps, numbers * int64_t(sizeof(S)), stream, s, given, run,
                  inputs),
           "forward");
  });
}

// Slopes of all steps, in `jacobian`, and deviations.
template <class S, class R>
void run_linearise(Stream stream, const Call<S, R>& call, const Given<S>& given,
                   const Trajectories<S>& run, S* jacobian, S* deviation) {
  const Shape& s = call.shape;
  const int64_t points = int64_t(s.steps - 1) * s.batch;
  const int warps = team(s);
  auto bytes = [&](int count) { return linearise_numbers(s, count, warps) * int64_t(sizeof(S)); };
  if (points == 0) return;
  with_points(best_points(warps, bytes), [&](auto k) {
    const dim3 grid{blocks_for(points, kWarp * k()), static_cast<unsigned>(s.dx),
                    static_cast<unsigned>(call.models)};
    expect(launch(linearise<S, k()>, grid, kWarp * warps, bytes(k()), stream, s, given, run,
                  jacobian, deviation),
           "linearise");
  });
}

// The recursion of the adjoint with a few lanes for each trajectory; false where there are too many
// states and inputs.
template <int kLanes, class S, class R>
bool run_cotangents_staged(Stream stream, const Call<S, R>& call, const S* jacobian, S* g) {
  const Shape& s = call.shape;
  if (s.dx > kLanes || s.din() > 2 * kLanes) return false;
  const int64_t limit = shared_memory_limit() < kStagedBytes ? shared_memory_limit() : kStagedBytes;
  auto bytes = [&](int steps) {
    return staged_numbers(s, kWarp / kLanes, steps) * int64_t(sizeof(S));
  };
  int together = kStagedSteps;
  while (together > 1 && bytes(together) > limit) together /= 2;
  if (bytes(together) > limit) return false;
  const dim3 grid{blocks_for(s.batch, kWarp / kLanes), static_cast<unsigned>(call.models)};
  expect(launch(cotangents_staged<S, kLanes>, grid, kStagingThreads, bytes(together), stream, s,
                together, jacobian, call.in(kGStates), g),
         "cotangents_staged");
  return true;
}

template <class S, class R>
void run_cotangents(Stream stream, const Call<S, R>& call, const S* jacobian, S* g) {
  const Shape& s = call.shape;
  if (run_cotangents_staged<4>(stream, call, jacobian, g) ||
      run_cotangents_staged<8>(stream, call, jacobian, g))
    return;
  const dim3 grid{blocks_for(s.batch, kTogether), static_cast<unsigned>(call.models)};
  const int rows = s.din() < kCotangentRows ? s.din() : kCotangentRows;
  auto launched = [&](auto ahead) {
    const int64_t bytes = 2 * cotangent_rows(s, ahead()) * kTogether * int64_t(sizeof(S));
    expect(launch(cotangents<S, ahead()>, grid, kTogether * rows, bytes, stream, s, jacobian,
                  call.in(kGStates), g),
           "cotangents");
  };
  if (s.dx <= 4)
    launched(std::integral_constant<int, 4>());
  else if (s.dx <= 8)
    launched(std::integral_constant<int, 8>());
  else
    launched(std::integral_constant<int, 16>());
}

// How many trajectories a slice of `gradients` has; 0 where the shared memory is too small for even
// a few.
template <class S>
int slice_trajectories(const Shape& s) {
  const int warps = team(s);
  return kWarp * best_points(warps, [&](int count) {
           return gradients_numbers(s, count, warps) * int64_t(sizeof(S));
         });
}

// The gradients of the parameters, the results from `first` on, from the sums of `slices` slices.
template <class S, class R>
void run_finish(Stream stream, const Call<S, R>& call, int slices, const S* parts, size_t first) {
  const Shape& s = call.shape;
  const int64_t n = call.models * s.dx, inputs = n * s.din(), square = n * s.points * s.points;
  const int size = static_cast<int>(s.dx * sums_size(s));
  const unsigned models = static_cast<unsigned>(call.models);
  R* const sums = call.template out<R>(first, call.models * size);
  const int64_t sizes[] = {inputs * s.points,     inputs, n, square, s.own_mean ? 0 : n * s.points,
                           s.spread ? square : 0, inputs, n, n};
  auto slope = [&](size_t i) { return call.template out<R>(first + 1 + i, sizes[i]); };
  const Slopes<R> slopes{slope(0), slope(1), slope(2), slope(3), slope(4),
                         slope(5), slope(6), slope(7), slope(8)};
  expect(launch(add_slices<S, R>, dim3{blocks_for(size, kWarp), models}, kWarp * kSumRows,
                kWarp * kSumRows * int64_t(sizeof(R)), stream, slices, size, parts, sums),
         "add_slices");
  expect(launch(finish<R>, dim3{static_cast<unsigned>(s.dx), models}, kFinishThreads, 0, stream, s,
                call.parameters(), static_cast<const R*>(sums), slopes),
         "finish");
}

template <class S, class R>
void run_backward(Stream stream, const Call<S, R>& call, int stretches) {
  const Shape& s = call.shape;
  const int64_t n = call.models, B = s.batch, later = s.steps - 1;
  const int together = slice_trajectories<S>(s);
  if (together < 1 || stretches < 1) throw Mistake{"expected at least one trajectory and stretch"};
  const unsigned slices = blocks_for(B, together) * static_cast<unsigned>(stretches),
                 models = static_cast<unsigned>(n);
  const Given<S> given = call.given(call.in(kRecords));
  const Trajectories<S> run{nullptr, call.in(kU), call.in(kEps), const_cast<S*>(call.in(kFirst))};
  S *g = call.out(0, n * s.steps * s.din() * B), *deviation = call.out(1, n * later * s.dx * B);
  S *jacobian = call.out(2, n * later * s.dx * s.din() * B),
    *sums = call.out(3, n * slices * s.dx * sums_size(s));
  S* g_mean = call.out(4, s.own_mean ? n * stretches * s.dx * s.points * B : 0);
  run_linearise(stream, call, given, run, jacobian, deviation);
  run_cotangents(stream, call, static_cast<const S*>(jacobian), g);
  with_points(together / kWarp, [&](auto k) {
    const int64_t bytes = gradients_numbers(s, k(), team(s)) * int64_t(sizeof(S));
    expect(launch(gradients<S, k()>, dim3{slices, static_cast<unsigned>(s.dx), models},
                  kWarp * team(s), bytes, stream, s, given, run, static_cast<const S*>(g),
                  stretches, sums, g_mean),
           "gradients");
  });
  run_finish(stream, call, static_cast<int>(slices), static_cast<const S*>(sums), 5);
}

// work(Call<S, R>) in the precisions of the call.
template <class Work>
ffi::Error checked(ffi::RemainingArgs args, ffi::RemainingRets rets, ffi::Span<const int64_t> sizes,
                   size_t arguments, Work work) {
  auto is_single = [&](size_t i) {
    const auto array = args.get<ffi::AnyBuffer>(i);
    return array.has_value() && array->element_type() == ffi::F32;
  };
  try {
    if (!is_single(kFirst))
      work(Call<double, double>(args, rets, sizes, arguments));
    else if (is_single(kZeta))
      work(Call<float, float>(args, rets, sizes, arguments));
    else
      work(Call<float, double>(args, rets, sizes, arguments));
  } catch (const Mistake& mistake) {
    return said(mistake);
  }
  return ffi::Error::Success();
}

ffi::Error forward_call(Stream stream, ffi::RemainingArgs args, ffi::RemainingRets rets,
                        ffi::Span<const int64_t> sizes) {
  return checked(args, rets, sizes, kArguments,
                 [&](const auto& call) { run_forward(stream, call); });
}

ffi::Error backward_call(Stream stream, ffi::RemainingArgs args, ffi::RemainingRets rets,
                         ffi::Span<const int64_t> sizes, int64_t stretches) {
  return checked(args, rets, sizes, kArguments + 2, [&](const auto& call) {
    run_backward(stream, call, static_cast<int>(stretches));
  });
}

}  // namespace
}  // namespace prssm

// The kernels only wait in their stream, so XLA may record them into its graphs.
XLA_FFI_DEFINE_HANDLER_SYMBOL(prssm_cuda_forward, prssm::forward_call,
                              prssm::ffi::Ffi::Bind()
                                  .Ctx<prssm::StreamContext>()
                                  .RemainingArgs()
                                  .RemainingRets()
                                  .Attr<prssm::ffi::Span<const int64_t>>("sizes"),
                              {prssm::ffi::Traits::kCmdBufferCompatible});
XLA_FFI_DEFINE_HANDLER_SYMBOL(prssm_cuda_backward, prssm::backward_call,
                              prssm::ffi::Ffi::Bind()
                                  .Ctx<prssm::StreamContext>()
                                  .RemainingArgs()
                                  .RemainingRets()
                                  .Attr<prssm::ffi::Span<const int64_t>>("sizes")
                                  .Attr<int64_t>("stretches"),
                              {prssm::ffi::Traits::kCmdBufferCompatible});
XLA_FFI_DEFINE_HANDLER_SYMBOL(prssm_cuda_recognise, prssm::recognise_call,
                              prssm::ffi::Ffi::Bind()
                                  .Ctx<prssm::StreamContext>()
                                  .RemainingArgs()
                                  .RemainingRets()
                                  .Attr<prssm::ffi::Span<const int64_t>>("sizes"),
                              {prssm::ffi::Traits::kCmdBufferCompatible});
XLA_FFI_DEFINE_HANDLER_SYMBOL(prssm_cuda_unrecognise, prssm::unrecognise_call,
                              prssm::ffi::Ffi::Bind()
                                  .Ctx<prssm::StreamContext>()
                                  .RemainingArgs()
                                  .RemainingRets()
                                  .Attr<prssm::ffi::Span<const int64_t>>("sizes"),
                              {prssm::ffi::Traits::kCmdBufferCompatible});
XLA_FFI_DEFINE_HANDLER_SYMBOL(prssm_cuda_whiten, prssm::whiten_call,
                              prssm::ffi::Ffi::Bind()
                                  .Ctx<prssm::StreamContext>()
                                  .Arg<prssm::ffi::AnyBuffer>()
                                  .Arg<prssm::ffi::AnyBuffer>()
                                  .Arg<prssm::ffi::AnyBuffer>()
                                  .Ret<prssm::ffi::AnyBuffer>()
                                  .Attr<double>("jitter"),
                              {prssm::ffi::Traits::kCmdBufferCompatible});
XLA_FFI_DEFINE_HANDLER_SYMBOL(prssm_cuda_unwhiten, prssm::unwhiten_call,
                              prssm::ffi::Ffi::Bind()
                                  .Ctx<prssm::StreamContext>()
                                  .Arg<prssm::ffi::AnyBuffer>()
                                  .Arg<prssm::ffi::AnyBuffer>()
                                  .Arg<prssm::ffi::AnyBuffer>()
                                  .Arg<prssm::ffi::AnyBuffer>()
                                  .Arg<prssm::ffi::AnyBuffer>()
                                  .Ret<prssm::ffi::AnyBuffer>()
                                  .Ret<prssm::ffi::AnyBuffer>()
                                  .Ret<prssm::ffi::AnyBuffer>()
                                  .Attr<double>("jitter"),
                              {prssm::ffi::Traits::kCmdBufferCompatible});

// Trajectories of a slice of sums, which Python must know to lay out its result; 0 where the shared
// memory is too small.
extern "C" int64_t prssm_slice_trajectories(int64_t dx, int64_t du, int64_t points, bool spread,
                                            bool own_mean, int64_t number_size) {
  const prssm::Shape s{
      static_cast<int>(dx), static_cast<int>(du), static_cast<int>(points), 1, 1, spread, own_mean};
  return number_size == 4 ? prssm::slice_trajectories<float>(s)
                          : prssm::slice_trajectories<double>(s);
}

// Matrices of at most so many rows can be factored.
extern "C" int64_t prssm_largest_matrix() { return prssm::kLargest; }

#ifdef PRSSM_EMULATED
#define PRSSM_CUDA_COMPILER "a C++ compiler, for tests"
#else
#define PRSSM_TEXT_OF(number) #number
#define PRSSM_TEXT(number) PRSSM_TEXT_OF(number)
#define PRSSM_CUDA_COMPILER \
  "nvcc " PRSSM_TEXT(__CUDACC_VER_MAJOR__) "." PRSSM_TEXT(__CUDACC_VER_MINOR__)
#endif
extern "C" int prssm_cuda_interface_major() { return XLA_FFI_API_MAJOR; }
extern "C" int prssm_cuda_interface_minor() { return XLA_FFI_API_MINOR; }
extern "C" const char* prssm_cuda_compiler() { return PRSSM_CUDA_COMPILER; }
