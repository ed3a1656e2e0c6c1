// The recursion of the adjoint where there are few states: a trajectory's cotangents stay in neighbouring lanes of a warp,
// which waits for no other.
#pragma once

#include "adjoint.h"

namespace prssm {

constexpr int kCotangentWarps = 2;  // of a block

// Steps that derivatives are read before they are used, as memory is far away.
template <class S>
constexpr int kDerivativesAhead = 32 / sizeof(S);

// Grid (blocks of kCotangentWarps times 32 / kLanes trajectories, models). Lane i of a group takes the state i, and the input or
// state i + kLanes where there is one. `g` as in `cotangents`.
template <class S, int kLanes>
__global__ void __launch_bounds__(kWarp * kCotangentWarps)
cotangents_warp(Shape s, const S* jacobian, const S* g_states, S* g) {
  constexpr int kAhead = kDerivativesAhead<S>;
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, lane = thread % kLanes;
  const int b = min(thread / kLanes, s.batch - 1), group = threadIdx.x % kWarp / kLanes * kLanes;
  const int64_t model = blockIdx.y;
  jacobian += model * (s.steps - 1) * s.dx * s.din() * s.batch, g_states += model * s.steps * s.dx * s.batch;
  g += model * s.steps * s.din() * s.batch;
  Derivatives<S, kLanes> near[kAhead], far[kAhead];
  auto read_step = [&](int t, int j) {
    near[j] = read_derivatives<kLanes>(s, lane < s.din() ? t : -1, lane, b, jacobian, g_states);
    far[j] = read_derivatives<kLanes>(s, lane + kLanes < s.din() ? t : -1, lane + kLanes, b, jacobian, g_states);
  };
  S here = 0;  // nothing comes from after the last step
  auto step = [&](int t, int j) {
    S sum[2] = {near[j].direct, far[j].direct};
#pragma unroll
    for (int d = 0; d < kLanes; ++d) {
      const S later = from_lane(here, group + d);
      sum[0] += near[j].by_input[d] * later, sum[1] += far[j].by_input[d] * later;
    }
    here = sum[0];
    const int64_t row = int64_t(t) * s.din() + lane;
    if (lane < s.din()) g[row * s.batch + b] = sum[0];
    if (lane + kLanes < s.din()) g[(row + kLanes) * s.batch + b] = sum[1];
  };
#pragma unroll
  for (int j = 0; j < kAhead; ++j) read_step(s.steps - 1 - j, j);
  for (int last = s.steps - 1; last >= 0; last -= kAhead) {
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      if (last - j < 0) break;
      step(last - j, j);
      read_step(last - j - kAhead, j);
    }
  }
}

}  // namespace prssm
