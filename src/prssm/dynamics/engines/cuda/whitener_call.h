// The factorisation behind jax.ffi: nothing of a wrong type or size comes past this file.
#pragma once

#include "call.h"
#include "whitener.h"

namespace prssm {

// Factors and inverse factors of matrices (any number, P, P).
template <class S>
void run_whiten(Stream stream, const ffi::AnyBuffer& matrices, ffi::Result<ffi::AnyBuffer>& factors,
                ffi::Result<ffi::AnyBuffer>& inverses) {
  const auto sizes = matrices.dimensions();
  if (sizes.size() < 2 || sizes[sizes.size() - 1] != sizes[sizes.size() - 2]) throw Mistake{"expected square matrices"};
  for (const auto& result : {*factors, *inverses}) {
    if (result.element_type() != matrices.element_type() || result.element_count() != matrices.element_count()) {
      throw Mistake{"a result: its type or size differs from that of the matrices"};
    }
  }
  if (matrices.element_count() == 0) return;
  const int64_t points = sizes[sizes.size() - 1];
  if (points > kLargest) throw Mistake{"expected at most " + std::to_string(kLargest) + " rows"};
  const dim3 grid{static_cast<unsigned>(static_cast<int64_t>(matrices.element_count()) / (points * points))};
  const auto kernel = points <= kSquare ? whiten<S, 1> : points <= 2 * kSquare ? whiten<S, 2>
                    : points <= 4 * kSquare ? whiten<S, 4> : whiten<S, 8>;
  const std::string failure = launch(
      kernel, grid, kSquare * kSquare, whiten_numbers(points) * int64_t(sizeof(S)), stream, static_cast<int>(points),
      static_cast<const S*>(matrices.untyped_data()), static_cast<S*>(factors->untyped_data()),
      static_cast<S*>(inverses->untyped_data()));
  if (!failure.empty()) throw Mistake{"whiten: " + failure};
}

inline ffi::Error whiten_call(Stream stream, ffi::AnyBuffer matrices, ffi::Result<ffi::AnyBuffer> factors,
                              ffi::Result<ffi::AnyBuffer> inverses) {
  try {
    if (matrices.element_type() == ffi::F32) run_whiten<float>(stream, matrices, factors, inverses);
    else if (matrices.element_type() == ffi::F64) run_whiten<double>(stream, matrices, factors, inverses);
    else throw Mistake{"expected float32 or float64"};
  } catch (const Mistake& mistake) {
    return said(mistake);
  }
  return ffi::Error::Success();
}

}  // namespace prssm
