// The factorisation and the way back behind jax.ffi: nothing of a wrong type or size comes past
// this file.
#pragma once

#include "call.h"
#include "whitener.h"

namespace prssm {

inline void expect_like(const ffi::AnyBuffer& array, const ffi::AnyBuffer& zeta, int64_t size,
                        const char* name) {
  if (array.element_type() != zeta.element_type() ||
      static_cast<int64_t>(array.element_count()) != size) {
    throw Mistake{std::string(name) + ": its type or size does not fit that of the first array"};
  }
}

// How many matrices there are, and of which sizes.
struct Matrices {
  int64_t count, points, din;

  Matrices(const ffi::AnyBuffer& zeta, const ffi::AnyBuffer& log_lengthscale,
           const ffi::AnyBuffer& log_std) {
    const auto sizes = zeta.dimensions();
    if (sizes.size() < 2) throw Mistake{"expected inducing inputs"};
    din = sizes[sizes.size() - 1];
    points = sizes[sizes.size() - 2];
    if (din < 1 || points < 1 || points > kLargest) {
      throw Mistake{"expected at most " + std::to_string(kLargest) + " inducing inputs"};
    }
    count = static_cast<int64_t>(zeta.element_count()) / (points * din);
    expect_like(log_lengthscale, zeta, count * din, "log_lengthscale");
    expect_like(log_std, zeta, count, "log_std");
  }
  int64_t squares() const { return count * points * points; }
  dim3 grid() const { return dim3{static_cast<unsigned>(count)}; }
};

template <class R>
Inducing<R> inducing(const Matrices& of, const ffi::AnyBuffer& zeta,
                     const ffi::AnyBuffer& log_lengthscale, const ffi::AnyBuffer& log_std,
                     double jitter) {
  auto numbers = [](const ffi::AnyBuffer& array) {
    return static_cast<const R*>(array.untyped_data());
  };
  return {numbers(zeta),
          numbers(log_lengthscale),
          numbers(log_std),
          static_cast<int>(of.points),
          static_cast<int>(of.din),
          static_cast<R>(jitter)};
}

// work(R()) in the precision of the call.
template <class Work>
ffi::Error in_precision(const ffi::AnyBuffer& zeta, Work work) {
  try {
    std::string failure;
    if (zeta.element_type() == ffi::F32)
      failure = work(float());
    else if (zeta.element_type() == ffi::F64)
      failure = work(double());
    else
      throw Mistake{"expected float32 or float64"};
    if (!failure.empty()) throw Mistake{"launch: " + failure};
  } catch (const Mistake& mistake) {
    return said(mistake);
  }
  return ffi::Error::Success();
}

inline ffi::Error whiten_call(Stream stream, ffi::AnyBuffer zeta, ffi::AnyBuffer log_lengthscale,
                              ffi::AnyBuffer log_std, ffi::Result<ffi::AnyBuffer> white,
                              double jitter) {
  return in_precision(zeta, [&](auto zero) {
    using R = decltype(zero);
    const Matrices matrices(zeta, log_lengthscale, log_std);
    expect_like(*white, zeta, matrices.squares(), "white");
    if (matrices.count == 0) return std::string();
    const auto kernel = matrices.points <= kSquare       ? whiten<R, 1>
                        : matrices.points <= 2 * kSquare ? whiten<R, 2>
                        : matrices.points <= 4 * kSquare ? whiten<R, 4>
                                                         : whiten<R, 6>;
    const int64_t bytes = whiten_numbers(matrices.points, matrices.din) * int64_t(sizeof(R));
    return launch(kernel, matrices.grid(), kSquare * kSquare, bytes, stream,
                  inducing<R>(matrices, zeta, log_lengthscale, log_std, jitter),
                  static_cast<R*>(white->untyped_data()));
  });
}

inline ffi::Error unwhiten_call(Stream stream, ffi::AnyBuffer zeta, ffi::AnyBuffer log_lengthscale,
                                ffi::AnyBuffer log_std, ffi::AnyBuffer white, ffi::AnyBuffer g,
                                ffi::Result<ffi::AnyBuffer> g_zeta,
                                ffi::Result<ffi::AnyBuffer> g_log_lengthscale,
                                ffi::Result<ffi::AnyBuffer> g_log_std, double jitter) {
  return in_precision(zeta, [&](auto zero) {
    using R = decltype(zero);
    const Matrices matrices(zeta, log_lengthscale, log_std);
    expect_like(white, zeta, matrices.squares(), "white");
    expect_like(g, zeta, matrices.squares(), "the gradient of white");
    expect_like(*g_zeta, zeta, matrices.count * matrices.points * matrices.din, "a result");
    expect_like(*g_log_lengthscale, zeta, matrices.count * matrices.din, "a result");
    expect_like(*g_log_std, zeta, matrices.count, "a result");
    if (matrices.count == 0) return std::string();
    auto result = [](ffi::Result<ffi::AnyBuffer>& array) {
      return static_cast<R*>(array->untyped_data());
    };
    const int64_t bytes = unwhiten_numbers(matrices.points, matrices.din) * int64_t(sizeof(R));
    return launch(unwhiten<R>, matrices.grid(), kSquare * kSquare, bytes, stream,
                  inducing<R>(matrices, zeta, log_lengthscale, log_std, jitter),
                  static_cast<const R*>(white.untyped_data()),
                  static_cast<const R*>(g.untyped_data()),
                  InducingSlopes<R>{result(g_zeta), result(g_log_lengthscale), result(g_log_std)});
  });
}

}  // namespace prssm
