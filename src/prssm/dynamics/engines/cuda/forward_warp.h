// The recursion where there are few trajectories and few inducing points: a warp walks one
// trajectory through time and waits for no other. Some lanes share a latent dimension; each has a
// few rows of its matrices in registers.
#pragma once

#include "forward.h"

namespace prssm {

constexpr int kTrajectoryWarps = 4;  // of a block, a trajectory each
constexpr int kInputs = 8;           // states and inputs together, at most
constexpr int kNoiseAhead =
    4;  // steps that noise and inputs are read before they are used, as memory is far away

// Rows of a lane, so that kLanes of them have all rows of T tiles.
__host__ __device__ constexpr int rows_of_lane(int lanes, int tiles) {
  return (4 * tiles + lanes - 1) / lanes;
}

// Numbers of one latent dimension's vector in shared memory: groups of lanes then read different
// banks.
__host__ __device__ constexpr int vector_pitch(int tiles) { return 4 * tiles + 4; }

__host__ __device__ inline int64_t forward_warp_numbers(int lanes, int tiles) {
  return int64_t(kTrajectoryWarps) * 2 * (kWarp / lanes) * vector_pitch(tiles);
}

template <class S>
__device__ S entry(const Triangle<S>& matrix, int row, int column) {
  return matrix.has(row, column / 4)
             ? matrix.column(column / 4, row / 4)[4 * (row % 4) + column % 4]
             : S(0);
}

// What a lane keeps of its latent dimension: the rows p = lane, lane + kLanes, .. of zeta, W and
// V'. Distances are scaled such that k = variance 2^-|zeta' - xu'|^2.
template <class S, int kLanes, int T>
struct LaneRows {
  static constexpr int kRows = rows_of_lane(kLanes, T), P = 4 * T;
  S zeta[kRows][kInputs], white[kRows][P], spread[kRows][P], mean[kRows], scale[kInputs],
      weight[kInputs];

  __device__ LaneRows(const Dimension<S>& f, const Shape& s, int lane, const Points<1>& at) {
    constexpr S kRoot = S(0.84932180028801904);  // of log2(e) / 2
#pragma unroll
    for (int i = 0; i < kInputs; ++i) {
      scale[i] = i < s.din() ? kRoot * f.scale[i] : S(0);
      weight[i] = i < s.din() ? f.weight[i] : S(0);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int p = lane + r * kLanes;
      mean[r] = p < P ? mean_of(f, s, p, at).v[0] : S(0);
#pragma unroll
      for (int i = 0; i < kInputs; ++i)
        zeta[r][i] =
            p < P && i < s.din() ? kRoot * *(f.zeta.column(i / 4, 0) + 4 * p + i % 4) : S(0);
#pragma unroll
      for (int q = 0; q < P; ++q) {
        white[r][q] = entry(f.white, p, q);
        spread[r][q] = s.spread ? entry(f.spread, p, q) : S(0);
      }
    }
  }

  __device__ S covariance(int r, const S* scaled, S variance) const {
    S squared[2] = {};
#pragma unroll
    for (int i = 0; i < kInputs; ++i) {
      const S apart = zeta[r][i] - scaled[i];
      squared[i % 2] += apart * apart;
    }
    return variance * exp2(-(squared[0] + squared[1]));
  }

  // Entry r of W x or V'x: of the triangles, columns that are zero in all lanes are left out.
  __device__ S times_white(int r, const S* x) const {
    return dot(white[r], x, 0, (r + 1) * kLanes < P ? (r + 1) * kLanes : P);
  }
  __device__ S times_spread(int r, const S* x) const { return dot(spread[r], x, r * kLanes, P); }

 private:
  __device__ static S dot(const S* row, const S* x, int begin, int end) {
    S sum[2] = {};
#pragma unroll
    for (int q = 0; q < P; ++q) {
      if (q >= begin && q < end) sum[q % 2] += row[q] * x[q];
    }
    return sum[0] + sum[1];
  }
};

// All lanes of a group get the vector whose rows they hand over; `memory` is the group's.
template <int kLanes, int T, class S>
__device__ void gathered(const S* rows, int lane, S* memory, S* all) {
#pragma unroll
  for (int r = 0; r < rows_of_lane(kLanes, T); ++r) {
    if (lane + r * kLanes < 4 * T) memory[lane + r * kLanes] = rows[r];
  }
  __syncwarp();
#pragma unroll
  for (int quad = 0; quad < T; ++quad) {
    const Four<S> part = four(memory + 4 * quad);
#pragma unroll
    for (int l = 0; l < 4; ++l) all[4 * quad + l] = part.v[l];
  }
}

// Grid (blocks of kTrajectoryWarps trajectories, models).
template <class S, int kLanes, int T>
__global__ void __launch_bounds__(kWarp* kTrajectoryWarps)
    forward_warp(Shape s, Given<S> given, Trajectories<S> everything) {
  constexpr int kRows = rows_of_lane(kLanes, T);
  const Trajectories<S> run = everything.of_model(s, blockIdx.y);
  const int warp = threadIdx.x / kWarp, place = threadIdx.x % kWarp, lane = place % kLanes;
  const int d =
      min(place / kLanes, s.dx - 1);  // lanes of a dimension that is not there repeat the last one
  const Points<1> first = trajectories_from<1>(blockIdx.x * kTrajectoryWarps + warp, 1, s, 0);
  const int b = first.b[0];
  const Dimension<S> f = given.dimension(s, blockIdx.y, d);
  const LaneRows<S, kLanes, T> rows(f, s, lane, first);
  S* const k_memory =
      shared_memory<S>() + (2 * warp * (kWarp / kLanes) + place / kLanes) * vector_pitch(T);
  S* const a_memory = k_memory + kWarp / kLanes * vector_pitch(T);
  // A lane hands over its state, but those behind the first hand over the inputs.
  const int input = place - 1;
  const bool has_input = input >= 0 && input < s.du;
  auto read_input = [&](int t) {
    return has_input && t < s.steps ? run.u[(int64_t(t) * s.du + input) * s.batch + b] : S(0);
  };
  auto read_noise = [&](int t) {
    return t + 1 < s.steps ? run.eps[(int64_t(t) * s.dx + d) * s.batch + b] : S(0);
  };
  S noise[kNoiseAhead], inputs[kNoiseAhead];
#pragma unroll
  for (int j = 0; j < kNoiseAhead; ++j) {
    noise[j] = read_noise(j);
    inputs[j] = read_input(j);
  }
  S x = run.x1[int64_t(d) * s.batch + b];
  if (lane == 0) run.states[int64_t(d) * s.batch + b] = x;
  auto step = [&](int t, S eps, S u) {
    const S handed = has_input ? u : x;
    S xu[kInputs], scaled[kInputs], affine = f.bias;
#pragma unroll
    for (int i = 0; i < kInputs; ++i) {
      xu[i] = from_lane(handed, i < s.dx ? kLanes * i : i < s.din() ? 1 + i - s.dx : 0);
      scaled[i] = rows.scale[i] * xu[i];
    }
    S mine[kRows], k[4 * T], a[4 * T], squares = 0, said = 0, mean = 0;
#pragma unroll
    for (int r = 0; r < kRows; ++r) mine[r] = rows.covariance(r, scaled, f.variance);
    gathered<kLanes, T>(mine, lane, k_memory, k);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      mine[r] = rows.times_white(r, k);
      squares += mine[r] * mine[r];
      mean += rows.mean[r] * mine[r];
    }
    if (s.spread) {
      gathered<kLanes, T>(mine, lane, a_memory, a);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const S c = rows.times_spread(r, a);
        said += c * c;
      }
    } else {
      __syncwarp();  // before the next step writes where this one reads
    }
#pragma unroll
    for (int i = 0; i < kInputs; ++i) affine += rows.weight[i] * xu[i];
#pragma unroll
    for (int apart = 1; apart < kLanes; apart *= 2) {
      squares += swapped<kWarp>(squares, apart);
      said += swapped<kWarp>(said, apart);
      mean += swapped<kWarp>(mean, apart);
    }
    const S unsaid = f.variance - squares;
    x = affine + mean + sqrt((unsaid < S(0) ? S(0) : unsaid) + said + f.process_var) * eps;
    if (lane == 0) run.states[(int64_t(t + 1) * s.dx + d) * s.batch + b] = x;
  };
  for (int begin = 0; begin + 1 < s.steps; begin += kNoiseAhead) {
#pragma unroll
    for (int j = 0; j < kNoiseAhead; ++j) {
      const int t = begin + j;
      if (t + 1 >= s.steps) break;
      step(t, noise[j], inputs[j]);
      noise[j] = read_noise(t + kNoiseAhead);
      inputs[j] = read_input(t + kNoiseAhead);
    }
  }
}

}  // namespace prssm
