// The recognition network behind jax.ffi: nothing of a wrong type or size comes past this file.
#pragma once

#include "recognition.h"
#include "whitener_call.h"

namespace prssm {

constexpr size_t kNetworkArrays = 7;

// The arrays of a call: the windows' samples, the network, what the backward pass reads besides,
// and the results. `sizes` are those of Python's NetworkShape; jax.vmap puts an axis of models in
// front of all arrays.
template <class R>
class NetworkCall {
 public:
  NetworkCall(ffi::RemainingArgs args, ffi::RemainingRets rets, ffi::Span<const int64_t> sizes)
      : args_(args), rets_(rets) {
    if (sizes.size() != 6) throw Mistake{"wrong number of sizes"};
    for (const int64_t size : sizes) {
      if (size < 0 || size > INT32_MAX) throw Mistake{"a size is out of range"};
    }
    auto at = [&](size_t i) { return static_cast<int>(sizes[i]); };
    shape = {at(0), at(1), at(2), at(3), at(4), at(5) != 0};
    if (shape.windows < 1 || shape.size < 1 || shape.hidden < 1 || shape.dx < 1)
      throw Mistake{"expected at least one of everything"};
    if (shape.shown > shape.dx || shape.shown > shape.size)
      throw Mistake{"more is shown than there is"};
    models = static_cast<int64_t>(array(0).element_count()) / (int64_t(shape.windows) * shape.size);
  }

  const R* in(size_t i, int64_t size) const {
    const ffi::AnyBuffer buffer = array(i);
    check(buffer, models * size);
    return static_cast<const R*>(buffer.untyped_data());
  }
  R* out(size_t i, int64_t size) const {
    auto buffer = rets_.get<ffi::AnyBuffer>(i);
    if (buffer.has_error()) throw Mistake{"recognition: a result is not an array"};
    check(**buffer, models * size);
    return static_cast<R*>((*buffer)->untyped_data());
  }
  Network<const R> network() const {
    auto part = [&](int i) { return in(1 + i, shape.numbers(i)); };
    return {part(0), part(1), part(2), part(3), part(4), part(5), part(6)};
  }
  Network<R> slopes() const {
    auto part = [&](int i) { return out(i, shape.numbers(i)); };
    return {part(0), part(1), part(2), part(3), part(4), part(5), part(6)};
  }
  int64_t samples() const { return int64_t(shape.windows) * shape.size; }
  int64_t hidden() const { return int64_t(shape.windows) * shape.hidden; }
  int64_t states() const { return int64_t(shape.windows) * shape.dx; }
  dim3 grid(int blocks) const {
    return dim3{static_cast<unsigned>(blocks), static_cast<unsigned>(models)};
  }

  NetworkShape shape{};
  int64_t models = 0;

 private:
  ffi::AnyBuffer array(size_t i) const {
    const auto buffer = args_.get<ffi::AnyBuffer>(i);
    if (buffer.has_error()) throw Mistake{"recognition: an array is missing"};
    return *buffer;
  }
  void check(const ffi::AnyBuffer& buffer, int64_t size) const {
    expect_like(buffer, array(0), size, "recognition");
  }

  ffi::RemainingArgs args_;
  ffi::RemainingRets rets_;
};

// work(NetworkCall<R>) in the precision of the samples.
template <class Work>
ffi::Error recognition_checked(ffi::RemainingArgs args, ffi::RemainingRets rets,
                               ffi::Span<const int64_t> sizes, Work work) {
  const auto sample = args.get<ffi::AnyBuffer>(0);
  if (sample.has_error()) return said(Mistake{"recognition: expected samples"});
  return in_precision(
      *sample, [&](auto zero) { return work(NetworkCall<decltype(zero)>(args, rets, sizes)); });
}

inline ffi::Error recognise_call(Stream stream, ffi::RemainingArgs args, ffi::RemainingRets rets,
                                 ffi::Span<const int64_t> sizes) {
  return recognition_checked(args, rets, sizes, [&](auto call) {
    using R = std::remove_const_t<std::remove_pointer_t<decltype(call.in(0, 0))>>;
    const Windows<R> run{call.in(0, call.samples()), call.out(0, call.hidden()),
                         call.out(1, call.states()), call.out(2, call.states())};
    return launch(recognise<R>, call.grid(call.shape.windows), kRecognitionThreads, 0, stream,
                  call.shape, call.network(), run);
  });
}

inline ffi::Error unrecognise_call(Stream stream, ffi::RemainingArgs args, ffi::RemainingRets rets,
                                   ffi::Span<const int64_t> sizes) {
  return recognition_checked(args, rets, sizes, [&](auto call) {
    using R = std::remove_const_t<std::remove_pointer_t<decltype(call.in(0, 0))>>;
    constexpr size_t kMore = 1 + kNetworkArrays;
    const WindowSlopes<R> run{call.in(0, call.samples()), call.in(kMore, call.hidden()),
                              call.in(kMore + 1, call.states()), call.in(kMore + 2, call.states()),
                              call.out(kNetworkArrays, call.hidden())};
    return launch(unrecognise<R>, call.grid(call.shape.hidden + 1), kRecognitionThreads, 0, stream,
                  call.shape, call.network(), run, call.slopes());
  });
}

}  // namespace prssm
