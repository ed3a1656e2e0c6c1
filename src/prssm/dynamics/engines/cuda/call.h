// The arrays of one call, checked: nothing of a wrong type or size comes past this file.
#pragma once

#include <string>
#include <vector>

#include "forward.h"
#include "lay_out.h"

namespace prssm {

namespace ffi = xla::ffi;

// The arguments of both functions, in the order of `ForEachArray` (arrays.py); the backward pass
// has two more.
constexpr const char* kNames[] = {"x1 or states", "u",           "eps",     "zeta",    "precision",
                                  "variance",     "white",       "mean",    "spread",  "weight",
                                  "bias",         "process_var", "records", "g_states"};
constexpr size_t kArguments = 12;
enum : size_t {
  kFirst,
  kU,
  kEps,
  kZeta,
  kPrecision,
  kVariance,
  kWhite,
  kMean,
  kSpread,
  kWeight,
  kBias,
  kProcessVar,
  kRecords,
  kGStates
};

struct Mistake {
  std::string message;
};

inline ffi::Error said(const Mistake& mistake) {
  return ffi::Error::InvalidArgument("prssm CUDA rollout: " + mistake.message);
}

// `sizes` are those of Python's Shape; jax.vmap puts an axis of models in front of all arrays.
// Trajectories are in the precision S, parameters in the precision R.
template <class S, class R>
class Call {
 public:
  Call(ffi::RemainingArgs args, ffi::RemainingRets rets, ffi::Span<const int64_t> sizes,
       size_t arguments)
      : args_(args), rets_(rets) {
    if (args.size() != arguments || sizes.size() != 7)
      throw Mistake{"wrong number of arrays or sizes"};
    for (const int64_t size : sizes) {
      if (size < 0 || size > INT32_MAX) throw Mistake{"a size is out of range"};
    }
    auto at = [&](size_t i) { return static_cast<int>(sizes[i]); };
    shape = {at(0), at(1), at(2), at(3), at(4), at(5) != 0, at(6) != 0};
    const int64_t dx = shape.dx, P = shape.points, B = shape.batch, T = shape.steps;
    if (dx < 1 || P < 1 || B < 1 || T < 1) throw Mistake{"expected at least one of everything"};
    if (shape.spread && shape.own_mean) throw Mistake{"a drawn function has no spread"};
    models = static_cast<int64_t>(array(kEps).element_count()) / (T * dx * B);
    const int64_t n = models * dx, states = n * T * B, inputs = n * shape.din(), square = n * P * P;
    sizes_ = {arguments == kArguments ? n * B : states,
              models * T * shape.du * B,
              states,
              inputs * P,
              inputs,
              n,
              square,
              shape.own_mean ? n * P * B : n * P,
              shape.spread ? square : 0,
              inputs,
              n,
              n,
              n * Places(shape).size,
              states};
  }

  // An argument of trajectories, and one of parameters.
  const S* in(size_t i) const { return checked_in<S>(i); }
  const R* parameter(size_t i) const { return checked_in<R>(i); }

  // A result; T is its precision.
  template <class T = S>
  T* out(size_t i, int64_t size) const {
    auto buffer = rets_.get<ffi::AnyBuffer>(i);
    if (buffer.has_error()) throw Mistake{"a result is not an array"};
    check<T>(**buffer, size, "a result");
    return static_cast<T*>((*buffer)->untyped_data());
  }

  Parameters<R> parameters() const {
    return {parameter(kZeta),
            parameter(kPrecision),
            parameter(kVariance),
            parameter(kWhite),
            shape.own_mean ? nullptr : parameter(kMean),
            parameter(kSpread),
            parameter(kWeight),
            parameter(kBias),
            parameter(kProcessVar)};
  }

  Given<S> given(const S* records) const { return {records, shape.own_mean ? in(kMean) : nullptr}; }

  int64_t models = 0;
  Shape shape{};

 private:
  ffi::AnyBuffer array(size_t i) const {
    const auto buffer = args_.get<ffi::AnyBuffer>(i);
    if (buffer.has_error()) throw Mistake{std::string(kNames[i]) + ": not an array"};
    return *buffer;
  }

  template <class T>
  const T* checked_in(size_t i) const {
    const ffi::AnyBuffer buffer = array(i);
    check<T>(buffer, sizes_[i], kNames[i]);
    return static_cast<const T*>(buffer.untyped_data());
  }

  template <class T>
  static void check(const ffi::AnyBuffer& buffer, int64_t size, const char* name) {
    const ffi::DataType wanted = sizeof(T) == 4 ? ffi::F32 : ffi::F64;
    if (buffer.element_type() != wanted)
      throw Mistake{std::string(name) + ": its type differs from the others'"};
    const auto count = static_cast<int64_t>(buffer.element_count());
    if (count != size) {
      throw Mistake{std::string(name) + ": expected " + std::to_string(size) + " numbers, got " +
                    std::to_string(count)};
    }
  }

  ffi::RemainingArgs args_;
  ffi::RemainingRets rets_;
  std::vector<int64_t> sizes_;
};

}  // namespace prssm
