// The arrays of one call, checked: nothing of a wrong type or size comes past this file.
#pragma once

#include <string>
#include <vector>

#include "forward.h"

namespace prssm {

namespace ffi = xla::ffi;

constexpr const char* kNames[] = {"x1 or states", "u", "eps", "zeta", "zeta_scaled", "zeta_norm", "scale", "white", "spread",
                                  "mean", "weight", "variance", "process_var", "bias", "g_states"};
constexpr size_t kArguments = 14;  // without g_states

struct Mistake {
  std::string message;
};

inline ffi::Error said(const Mistake& mistake) {
  return ffi::Error::InvalidArgument("prssm CUDA rollout: " + mistake.message);
}

// `sizes` are those of Python's Shape; jax.vmap puts an axis of models in front of all arrays.
template <class S>
class Call {
 public:
  Call(ffi::RemainingArgs args, ffi::RemainingRets rets, ffi::Span<const int64_t> sizes, size_t arguments)
      : args_(args), rets_(rets) {
    if (args.size() != arguments || sizes.size() != 7) throw Mistake{"wrong number of arrays or sizes"};
    for (const int64_t size : sizes) {
      if (size < 0 || size > INT32_MAX) throw Mistake{"a size is out of range"};
    }
    auto at = [&](size_t i) { return static_cast<int>(sizes[i]); };
    shape = {at(0), at(1), at(2), at(3), at(4), at(5) != 0, at(6) != 0};
    const int64_t dx = shape.dx, din = shape.din(), padded = shape.padded(), B = shape.batch, T = shape.steps;
    if (dx < 1 || shape.points < 1 || B < 1 || T < 1) throw Mistake{"expected at least one of everything"};
    if (shape.spread && shape.own_mean) throw Mistake{"a drawn function has no spread"};
    models = static_cast<int64_t>(array(2).element_count()) / (T * dx * B);
    const int64_t n = models, states = n * T * dx * B, square = n * dx * 16 * shape.triangle();
    const int64_t inputs = n * dx * padded * shape.columns();
    sizes_ = {arguments == kArguments ? n * dx * B : states, n * T * shape.du * B, states, inputs, inputs, n * dx * padded,
              n * dx * shape.columns(), square, shape.spread ? square : 0, shape.own_mean ? n * dx * shape.points * B : n * dx * padded,
              n * dx * din, n * dx, n * dx, n * dx, states};
  }

  const S* in(size_t i) const {
    const ffi::AnyBuffer buffer = array(i);
    check(buffer, sizes_[i], kNames[i]);
    return static_cast<const S*>(buffer.untyped_data());
  }

  S* out(size_t i, int64_t size) const {
    auto buffer = rets_.get<ffi::AnyBuffer>(i);
    if (buffer.has_error()) throw Mistake{"a result is not an array"};
    check(**buffer, size, "a result");
    return static_cast<S*>((*buffer)->untyped_data());
  }

  Given<S> given() const {
    return {in(3), in(4), in(5), in(6), in(7), in(8), in(9), in(10), in(11), in(12), in(13)};
  }

  int64_t models = 0;
  Shape shape{};

 private:
  ffi::AnyBuffer array(size_t i) const {
    const auto buffer = args_.get<ffi::AnyBuffer>(i);
    if (buffer.has_error()) throw Mistake{std::string(kNames[i]) + ": not an array"};
    return *buffer;
  }

  static void check(const ffi::AnyBuffer& buffer, int64_t size, const char* name) {
    const ffi::DataType wanted = sizeof(S) == 4 ? ffi::F32 : ffi::F64;
    if (buffer.element_type() != wanted) throw Mistake{std::string(name) + ": its type differs from the others'"};
    const auto count = static_cast<int64_t>(buffer.element_count());
    if (count != size) {
      throw Mistake{std::string(name) + ": expected " + std::to_string(size) + " numbers, got " + std::to_string(count)};
    }
  }

  ffi::RemainingArgs args_;
  ffi::RemainingRets rets_;
  std::vector<int64_t> sizes_;
};

}  // namespace prssm
