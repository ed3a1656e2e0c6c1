// The recursion: all trajectories walk through time in one launch.
#pragma once

#include "point.h"

namespace prssm {

constexpr int kWarp = 32;
constexpr int kForwardWarps = 16;  // of a block, at most

template <class S>
struct Trajectories {
  const S *x1, *u, *eps;  // (Dx, B), (T, Du, B), (T, Dx, B)
  S* states;              // (T, Dx, B)

  // Where the arrays of model m begin.
  __device__ Trajectories of_model(const Shape& s, int64_t m) const {
    const int64_t row = int64_t(s.steps) * s.batch;
    return {x1 + m * s.dx * s.batch, u + m * s.du * row, eps + m * s.dx * row,
            states + m * s.dx * row};
  }
};

// How many numbers of one latent dimension a warp keeps in shared memory: matrices and vectors, and
// inducing inputs.
__host__ __device__ inline int matrix_numbers(const Shape& s) {
  return 2 * s.padded() + 32 * s.triangle() + 2 * s.columns();
}
__host__ __device__ inline int input_numbers(const Shape& s) { return s.padded() * s.columns(); }

// How many numbers a block works with in shared memory.
__host__ __device__ inline int64_t forward_numbers(const Shape& s, int points, int warps) {
  return int64_t(points) * (2 * s.padded() * warps + 2 * s.columns());
}

// N trajectories, `apart` from each other; those beyond the batch repeat the last one.
template <int N>
__device__ Points<N> trajectories_from(int first, int apart, const Shape& s, int t) {
  Points<N> at;
#pragma unroll
  for (int j = 0; j < N; ++j) {
    at.t[j] = t;
    at.b[j] = min(first + j * apart, s.batch - 1);
  }
  return at;
}

// A copy by one warp.
template <class S>
__device__ const S* resident(const S* from, int count, S* to) {
  for (int i = threadIdx.x % kWarp; i < count; i += kWarp) to[i] = from[i];
  __syncwarp();
  return to;
}

// The same dimension with matrices and vectors in shared memory.
template <class S>
__device__ Dimension<S> resident_copy(Dimension<S> f, const Shape& s, S* memory) {
  auto copied = [&](const S* from, int count) {
    S* const to = memory;
    memory += (count + 3) / 4 * 4;
    return resident(from, count, to);
  };
  f.white.first = copied(f.white.first, 16 * s.triangle());
  if (s.spread) f.spread.first = copied(f.spread.first, 16 * s.triangle());
  f.zeta_norm = copied(f.zeta_norm, s.padded());
  f.scale = copied(f.scale, s.columns());
  f.weight = copied(f.weight, s.din());
  if (!s.own_mean) f.mean = copied(f.mean, s.padded());
  return f;
}

// Four rows of a vector in shared memory.
template <class S, int N>
struct FourWide {
  Four<S> part[N];
  __device__ explicit FourWide(const Wide<S, N>* x) {
#pragma unroll
    for (int n = 0; n < N; ++n) part[n] = four(reinterpret_cast<const S*>(x) + 4 * n);
  }
  __device__ Wide<S, N> operator[](int l) const {
    return each<S, N>([&](int j) { return part[(l * N + j) / 4].v[(l * N + j) % 4]; });
  }
};

// sum_r += M_pi x_i for the four columns of a tile and the rows p = first, first + 32, .. where
// there are any.
template <int kRows, class S, int N, class M>
__device__ void add_row_parts(const M& matrix, int first, int quad, const Row<S>& row,
                              const FourWide<S, N>& x, Wide<S, N>* sum) {
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (!matrix.has(first + r * kWarp, quad)) continue;
    const Four<S> entries = four(row.at + 4 * kWarp * r);
#pragma unroll
    for (int l = 0; l < 4; ++l) sum[r] += entries.v[l] * x[l];
  }
}

// use(p, sum_p) for the rows of a thread, kRows at a time, so that what is loaded of a vector
// serves all of them; add(first, sums) adds up those from `first` on.
template <int kRows, class S, int N, class Add, class Use>
__device__ void for_rows(const Shape& s, Add add, Use use) {
  for (int first = threadIdx.x % kWarp; first < s.padded(); first += kRows * kWarp) {
    Wide<S, N> sum[kRows] = {};
    add(first, sum);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (first + r * kWarp < s.padded()) use(first + r * kWarp, sum[r]);
    }
  }
}

// use(p, (M x)_p) for the rows of a thread.
template <int kRows, class S, int N, class Use>
__device__ void rows_times(const Shape& s, const Triangle<S>& matrix, const Wide<S, N>* x,
                           Use use) {
  for_rows<kRows, S, N>(
      s,
      [&](int first, Wide<S, N>* sum) {
        Row<S> row = matrix.row(first, 0);
#pragma unroll 4
        for (int quad = 0; quad < matrix.tiles; ++quad, row.next()) {
          add_row_parts<kRows>(matrix, first, quad, row, FourWide<S, N>(x + 4 * quad), sum);
        }
      },
      use);
}

// k_p = k(zeta_p, xu) for the rows of a thread, the square of the distance multiplied out.
template <int kRows, class S, int N>
__device__ void row_covariances(const Dimension<S>& f, const Shape& s, const Wide<S, N>* xu,
                                Wide<S, N>* k) {
  Wide<S, N> norm;
  for_rows<kRows, S, N>(
      s,
      [&](int first, Wide<S, N>* product) {
        norm = {};
        Row<S> row = f.zeta_scaled.row(first, 0);
#pragma unroll 2
        for (int quad = 0; quad < s.quads(); ++quad, row.next()) {
          const Four<S> scale = four(f.scale + 4 * quad);
          const FourWide<S, N> here(xu + 4 * quad);
          add_row_parts<kRows>(f.zeta_scaled, first, quad, row, here, product);
#pragma unroll
          for (int l = 0; l < 4; ++l)
            norm += S(0.5) * ((scale.v[l] * here[l]) * (scale.v[l] * here[l]));
        }
      },
      [&](int p, const Wide<S, N>& product) {
        k[p] = f.variance * at_most_one_exp(product - norm - all<S, N>(f.zeta_norm[p]));
      });
}

// x_{t+1} in one latent dimension by one warp, its threads sharing the rows of the matrices. `k`
// and `a` are shared memory.
template <int kRows, class S, int N>
__device__ Wide<S, N> next_state(const Dimension<S>& f, const Shape& s, const Points<N>& now,
                                 const Wide<S, N>* xu, const Wide<S, N>& eps, Wide<S, N>* k,
                                 Wide<S, N>* a) {
  Wide<S, N> squares = {}, said = {}, mean = {};
  row_covariances<kRows>(f, s, xu, k);
  __syncwarp();
  rows_times<kRows>(s, f.white, k, [&](int p, const Wide<S, N>& x) {
    a[p] = x;
    squares += x * x;
    mean += mean_of(f, s, p, now) * x;
  });
  __syncwarp();
  if (s.spread) rows_times<kRows>(s, f.spread, a, [&](int, const Wide<S, N>& x) { said += x * x; });
  for (int i = threadIdx.x % kWarp; i < s.din(); i += kWarp) mean += f.weight[i] * xu[i];
#pragma unroll
  for (int apart = 1; apart < kWarp; apart *= 2) {
    squares += swapped<kWarp>(squares, apart);
    said += swapped<kWarp>(said, apart);
    mean += swapped<kWarp>(mean, apart);
  }
  const Wide<S, N> variance =
      at_least_zero(all<S, N>(f.variance) - squares) + said + all<S, N>(f.process_var);
  return mean + all<S, N>(f.bias) + root(variance) * eps;
}

// Grid (blocks of N trajectories, models). A warp takes one latent dimension after another, or one
// only, which it then keeps, `kResident`, with the inducing inputs of the first `inputs` warps. A
// thread takes kRows rows at a time.
template <class S, int N, int kRows, bool kResident>
__global__ void __launch_bounds__(kWarp* kForwardWarps)
    forward(Shape s, Given<S> given, Trajectories<S> everything, int inputs) {
  const Trajectories<S> run = everything.of_model(s, blockIdx.y);
  const int warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp, lane = threadIdx.x % kWarp;
  Wide<S, N>* memory = shared_memory<Wide<S, N>>();
  Wide<S, N>*k = memory + 2 * warp * s.padded(), *a = k + s.padded();
  Wide<S, N>* const buffers = memory + 2 * warps * s.padded();
  Wide<S, N>*xu = buffers, *following = buffers + s.columns();
  Points<N> now = trajectories_from<N>(blockIdx.x * N, 1, s, 0);
  for (int i = threadIdx.x; i < s.columns(); i += blockDim.x) {
    xu[i] = following[i] = {};
    if (i < s.dx)
      write(run.states, now, s.dx, i, s.batch, xu[i] = read(run.x1, now, s.dx, i, s.batch));
    else if (i < s.din())
      xu[i] = read(run.u, now, s.du, i - s.dx, s.batch);
  }
  int known = warp;
  Dimension<S> f = given.dimension(s, blockIdx.y, known);
  S* const parameters = reinterpret_cast<S*>(buffers + 2 * s.columns());
  if constexpr (kResident) {
    f = resident_copy(f, s, parameters + warp * matrix_numbers(s));
    S* const kept = parameters + warps * matrix_numbers(s) + warp * input_numbers(s);
    if (warp < inputs) f.zeta_scaled.first = resident(f.zeta_scaled.first, input_numbers(s), kept);
  }
  for (int t = 0; t + 1 < s.steps; ++t) {
    const Points<N> next = trajectories_from<N>(blockIdx.x * N, 1, s, t + 1);
    const int input = threadIdx.x;  // read ahead, as memory is far away
    const Wide<S, N> ahead = input < s.du ? read(run.u, next, s.du, input, s.batch) : Wide<S, N>{};
    __syncthreads();
    for (int d = warp; d < s.dx; d += warps) {
      if (!kResident && d != known) f = given.dimension(s, blockIdx.y, known = d);
      const Wide<S, N> eps = read(run.eps, now, s.dx, d, s.batch);
      const Wide<S, N> x = next_state<kRows>(f, s, now, xu, eps, k, a);
      if (lane == 0) {
        following[d] = x;
        write(run.states, next, s.dx, d, s.batch, x);
      }
    }
    if (input < s.du) following[s.dx + input] = ahead;
    for (int i = input + blockDim.x; i < s.du; i += blockDim.x) {
      following[s.dx + i] = read(run.u, next, s.du, i, s.batch);
    }
    now = next;
    xu = buffers + (t % 2 ? 0 : s.columns());
    following = buffers + (t % 2 ? s.columns() : 0);
  }
}

}  // namespace prssm
