// Which copy of the kernel runs on this processor, and the memory that it works in.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "kernel.h"

namespace prssm {

extern const Variant baseline;
#if defined(__x86_64__)
extern const Variant avx2, avx512;
#endif

// The best copy of the kernel that this processor can run, or the one that PRSSM_VARIANT names, if
// it can run that.
inline const Variant& chosen_variant() {
  std::vector<const Variant*> usable{&baseline};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) usable.push_back(&avx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    usable.push_back(&avx512);
#endif
  const char* asked = std::getenv("PRSSM_VARIANT");
  for (const Variant* variant : usable) {
    if (asked != nullptr && std::strcmp(asked, variant->name) == 0) return *variant;
  }
  return *usable.back();
}

template <class S>
const Kernel<S>& chosen_kernel() {
  if constexpr (std::is_same_v<S, float>)
    return chosen_variant().single_precision;
  else
    return chosen_variant().double_precision;
}

struct Aligned {
  void operator()(void* memory) const { ::operator delete(memory, std::align_val_t(64)); }
};
using Scratch = std::unique_ptr<void, Aligned>;

inline std::vector<Scratch> scratch_for(int64_t workers, int64_t bytes) {
  std::vector<Scratch> scratch;
  for (int64_t i = 0; i < workers; ++i) {
    scratch.emplace_back(::operator new(static_cast<size_t>(bytes), std::align_val_t(64)));
  }
  return scratch;
}

}  // namespace prssm
