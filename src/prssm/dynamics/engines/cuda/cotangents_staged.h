// The recursion of the adjoint where there are few states: all threads of a block bring derivatives
// into shared memory, some steps ahead, while its first warp walks back through time and waits for
// no memory.
#pragma once

#include "adjoint.h"

namespace prssm {

constexpr int kStagingThreads = 256;
constexpr int kStagedSteps = 16;  // brought together, at most
constexpr int64_t kStagedBytes =
    64 * 1024;  // of a block, at most: several blocks then share a processor

// What a step needs of one trajectory: the direct derivatives by its states, then the Jacobian.
__host__ __device__ inline int staged_rows(const Shape& s) { return s.dx * (s.din() + 1); }

// There are two buffers: one is filled while the other is read.
__host__ __device__ inline int64_t staged_numbers(const Shape& s, int trajectories, int steps) {
  return int64_t(2) * steps * staged_rows(s) * trajectories;
}

// Grid (blocks of 32 / kLanes trajectories, models). Lane i of a group takes the state i, and the
// input or state i + kLanes where there is one. `together` steps are staged at a time. `g` as in
// `cotangents`.
template <class S, int kLanes>
__global__ void __launch_bounds__(kStagingThreads)
    cotangents_staged(Shape s, int together, const S* jacobian, const S* g_states, S* g) {
  constexpr int kGroup = kWarp / kLanes;
  const int first = blockIdx.x * kGroup, rows = staged_rows(s), din = s.din(), last = s.steps - 2;
  const int64_t model = blockIdx.y, B = s.batch;
  jacobian += model * (s.steps - 1) * s.dx * din * B;
  g_states += model * s.steps * s.dx * B;
  g += model * s.steps * din * B;
  S* const memory = shared_memory<S>();
  auto buffer = [&](int part) { return memory + part % 2 * together * rows * kGroup; };
  auto stage = [&](int part) {
    const int place = threadIdx.x % kGroup, b = min(first + place, s.batch - 1);
    for (int j = 0; j < together; ++j) {
      const int64_t t = last - part * together - j;
      if (t < 0) break;
      for (int row = threadIdx.x / kGroup; row < rows; row += blockDim.x / kGroup) {
        const S* from = row < s.dx ? g_states + (t * s.dx + row) * B
                                   : jacobian + (t * s.dx * din + row - s.dx) * B;
        copy_ahead(buffer(part) + (j * rows + row) * kGroup + place, from + b);
      }
    }
  };
  const bool walks = threadIdx.x < kWarp;
  const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes,
            b = min(first + group, s.batch - 1);
  const bool near = lane < din, far = lane + kLanes < din;
  auto leave = [&](int64_t t, S by_near, S by_far) {
    if (near) g[(t * din + lane) * B + b] = by_near;
    if (far) g[(t * din + lane + kLanes) * B + b] = by_far;
  };
  S here = 0;
  if (walks) {  // nothing comes from after the last step
    if (lane < s.dx) here = g_states[(int64_t(s.steps - 1) * s.dx + lane) * B + b];
    leave(s.steps - 1, here, S(0));
  }
  auto walk = [&](int part) {
#pragma unroll 4
    for (int j = 0; j < together; ++j) {
      const int64_t t = last - part * together - j;
      if (t < 0) break;
      const S *direct = buffer(part) + j * rows * kGroup + group,
              *by_input = direct + (s.dx + lane) * kGroup;
      S sum[2] = {lane < s.dx ? direct[lane * kGroup] : S(0), S(0)};
#pragma unroll
      for (int d = 0; d < kLanes; ++d) {
        const S later = from_lane(here, group * kLanes + d);
        if (near && d < s.dx) sum[0] += by_input[d * din * kGroup] * later;
        if (far && d < s.dx) sum[1] += by_input[(d * din + kLanes) * kGroup] * later;
      }
      here = sum[0];
      leave(t, sum[0], sum[1]);
    }
  };
  const int parts = (last + together) / together;
  stage(0);
  for (int part = 0; part < parts; ++part) {
    all_copied();
    __syncthreads();
    stage(part + 1);
    if (walks) walk(part);
  }
  all_copied();
}

}  // namespace prssm
