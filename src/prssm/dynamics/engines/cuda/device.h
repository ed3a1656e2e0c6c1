// What the kernels need of the GPU, and how they are launched. With PRSSM_EMULATED the same kernels
// run on the CPU (emulation.h): slow, but their mathematics and synchronisation can be tested where
// there is no GPU.
#pragma once

#ifdef PRSSM_EMULATED
#include "emulation.h"
#else
#include <cuda_runtime.h>

#include <string>

#include "xla/ffi/api/ffi.h"

namespace prssm {

template <class S>
__device__ S* shared_memory() {
  extern __shared__ __align__(32) unsigned char bytes[];
  return reinterpret_cast<S*>(bytes);
}

// The value of the thread whose place in the group differs in bit `apart`; all threads of the group
// hand over theirs.
template <int kGroup, class S>
__device__ S swapped(S value, int apart) {
  const unsigned lane = threadIdx.x % 32,
                 group = kGroup == 32 ? ~0u : ((1u << kGroup) - 1) << (lane / kGroup * kGroup);
  return __shfl_xor_sync(group, value, apart);
}

// The value of a lane of the warp; all of them hand over theirs.
template <class S>
__device__ S from_lane(S value, int lane) {
  return __shfl_sync(~0u, value, lane);
}

// Copies a number into shared memory without waiting for it, where the GPU can.
template <class S>
__device__ void copy_ahead(S* to, const S* from) {
#if __CUDA_ARCH__ >= 800
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from),
               "n"(int(sizeof(S)))
               : "memory");
#else
  *to = *from;
#endif
}

// Waits for all that this thread copies ahead; other threads may read it after the next barrier.
__device__ inline void all_copied() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

using Stream = cudaStream_t;
using StreamContext = xla::ffi::PlatformStream<Stream>;

// The largest shared memory that a block may ask for, in bytes.
inline int64_t shared_memory_limit() {
  int device = 0, bytes = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 0;
  cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return bytes;
}

inline int processors() {
  int device = 0, count = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 1;
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count;
}

// Why the launch failed; empty where it did not.
template <class... Formal, class... Actual>
std::string launch(void (*kernel)(Formal...), dim3 grid, int threads, int64_t bytes, Stream stream,
                   Actual... arguments) {
  if (bytes > 48 * 1024) {
    cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                         cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  }
  kernel<<<grid, threads, static_cast<size_t>(bytes), stream>>>(arguments...);
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? "" : cudaGetErrorString(error);
}

}  // namespace prssm
#endif
