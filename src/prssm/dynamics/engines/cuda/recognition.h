// The recognition network of all windows of a batch, and the way back, a launch each:
//
//   h = tanh(W1 s + b1),   mean = W2 h + D s + d + [s_1 .. s_shown, 0],   log std = W3 h + b3
#pragma once

#include "arrays.h"
#include "forward.h"

namespace prssm {

constexpr int kRecognitionThreads = 256;

// The network's arrays, in the order of `Network` (recognition.py), or their gradients. D and d may
// be missing.
template <class R>
struct Network {
  R *hidden_weight, *hidden_bias, *mean_weight, *log_std_weight, *log_std_bias, *direct,
      *direct_bias;
};

struct NetworkShape {
  int windows, size, hidden, dx, shown;
  bool direct;
  __host__ __device__ int64_t numbers(int part) const {
    const int64_t sizes[] = {int64_t(hidden) * size, hidden, int64_t(dx) * hidden,
                             int64_t(dx) * hidden,   dx,     direct ? int64_t(dx) * size : 0,
                             direct ? dx : 0};
    return sizes[part];
  }
};

template <class R>
__device__ Network<R> network_of(const Network<R>& all, const NetworkShape& s, int64_t model) {
  return {all.hidden_weight + model * s.numbers(0), all.hidden_bias + model * s.numbers(1),
          all.mean_weight + model * s.numbers(2),   all.log_std_weight + model * s.numbers(3),
          all.log_std_bias + model * s.numbers(4),  all.direct + model * s.numbers(5),
          all.direct_bias + model * s.numbers(6)};
}

// In all lanes of a warp, the sum over n of x_n y_n.
template <class R>
__device__ R warp_dot(const R* x, const R* y, int n) {
  R sum = 0;
  for (int i = threadIdx.x % kWarp; i < n; i += kWarp) sum += x[i] * y[i];
#pragma unroll
  for (int apart = 1; apart < kWarp; apart *= 2) sum += swapped<kWarp>(sum, apart);
  return sum;
}

// What of a network depends on the window.
template <class R>
struct Windows {
  const R* sample;             // (windows, S) s
  R *hidden, *mean, *log_std;  // (windows, H) h, (windows, Dx) results
};

// Grid (windows, models).
template <class R>
__global__ void __launch_bounds__(kRecognitionThreads)
    recognise(NetworkShape s, Network<const R> everything, Windows<R> run) {
  const Network<const R> net = network_of(everything, s, blockIdx.y);
  const int64_t window = int64_t(blockIdx.y) * s.windows + blockIdx.x;
  const int warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  const bool leads = threadIdx.x % kWarp == 0;
  const R* const sample = run.sample + window * s.size;
  R* const hidden = run.hidden + window * s.hidden;
  for (int h = warp; h < s.hidden; h += warps) {
    const R sum = warp_dot(net.hidden_weight + int64_t(h) * s.size, sample, s.size);
    if (leads) hidden[h] = tanh(sum + net.hidden_bias[h]);
  }
  __syncthreads();
  for (int row = warp; row < 2 * s.dx; row += warps) {
    const int i = row / 2;
    const R* const weight =
        (row % 2 == 0 ? net.mean_weight : net.log_std_weight) + int64_t(i) * s.hidden;
    R sum = warp_dot(weight, static_cast<const R*>(hidden), s.hidden);
    if (row % 2 == 0 && s.direct)
      sum += warp_dot(net.direct + int64_t(i) * s.size, sample, s.size) + net.direct_bias[i];
    if (row % 2 == 0 && i < s.shown) sum += sample[i];
    if (leads)
      (row % 2 == 0 ? run.mean : run.log_std)[window * s.dx + i] =
          row % 2 == 0 ? sum : sum + net.log_std_bias[i];
  }
}

// The gradients of the results, and where that of W1 s + b1 (windows, H) is left.
template <class R>
struct WindowSlopes {
  const R *sample, *hidden, *mean, *log_std;
  R* before;
};

// Grid (H + 1, models): a block has a hidden unit, the last one what is not behind the hidden
// layer.
template <class R>
__global__ void __launch_bounds__(kRecognitionThreads)
    unrecognise(NetworkShape s, Network<const R> everything, WindowSlopes<R> all,
                Network<R> slopes) {
  const Network<const R> net = network_of(everything, s, blockIdx.y);
  const Network<R> slope = network_of(slopes, s, blockIdx.y);
  const int h = blockIdx.x;
  const int64_t first = int64_t(blockIdx.y) * s.windows;
  const R *sample = all.sample + first * s.size, *hidden = all.hidden + first * s.hidden;
  const R *g_mean = all.mean + first * s.dx, *g_log_std = all.log_std + first * s.dx;
  R* const before = all.before + first * s.hidden;
  auto each = [&](int count, auto use) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) use(i);
  };
  // The sum over windows of x y, whose rows are so long.
  auto over_windows = [&](const R* x, int x_row, const R* y, int y_row) {
    R sum = 0;
#pragma unroll 4
    for (int n = 0; n < s.windows; ++n)
      sum += x[int64_t(n) * x_row] * (y_row > 0 ? y[int64_t(n) * y_row] : R(1));
    return sum;
  };
  if (h == s.hidden) {
    each(s.dx,
         [&](int i) { slope.log_std_bias[i] = over_windows(g_log_std + i, s.dx, g_log_std, 0); });
    if (!s.direct) return;
    each(s.dx, [&](int i) { slope.direct_bias[i] = over_windows(g_mean + i, s.dx, g_mean, 0); });
    each(s.dx * s.size, [&](int at) {
      slope.direct[at] = over_windows(g_mean + at / s.size, s.dx, sample + at % s.size, s.size);
    });
    return;
  }
  each(s.windows, [&](int n) {
    R sum = 0;
#pragma unroll 4
    for (int i = 0; i < s.dx; ++i) {
      sum += net.mean_weight[i * s.hidden + h] * g_mean[n * s.dx + i] +
             net.log_std_weight[i * s.hidden + h] * g_log_std[n * s.dx + i];
    }
    const R active = hidden[int64_t(n) * s.hidden + h];
    before[int64_t(n) * s.hidden + h] = (R(1) - active * active) * sum;
  });
  each(2 * s.dx, [&](int row) {
    const int i = row / 2;
    const R sum = over_windows(hidden + h, s.hidden, (row % 2 == 0 ? g_mean : g_log_std) + i, s.dx);
    (row % 2 == 0 ? slope.mean_weight : slope.log_std_weight)[i * s.hidden + h] = sum;
  });
  __syncthreads();
  each(s.size + 1, [&](int i) {
    const R sum = over_windows(static_cast<const R*>(before) + h, s.hidden,
                               sample + (i < s.size ? i : 0), i < s.size ? s.size : 0);
    if (i < s.size)
      slope.hidden_weight[int64_t(h) * s.size + i] = sum;
    else
      slope.hidden_bias[h] = sum;
  });
}

}  // namespace prssm
