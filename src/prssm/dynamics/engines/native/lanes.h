// Numbers for many trajectories at once: one trajectory in each lane of two vector registers.
//
// Compiled once for each kind of processor (see build.py), so nothing here may be shared between
// those copies: everything lives in an unnamed namespace, and no inline function of the standard
// library is used.
#pragma once

#include <cstdint>
#include <cstring>

namespace {

#if defined(__AVX512F__)
constexpr int kBytes = 64;
#elif defined(__AVX2__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif

template <class S>
struct Register;
template <>
struct Register<float> {
  typedef float Vector __attribute__((vector_size(kBytes)));
  typedef float Anywhere __attribute__((vector_size(kBytes), aligned(alignof(float)), may_alias));
  typedef int32_t Bits __attribute__((vector_size(kBytes)));
};
template <>
struct Register<double> {
  typedef double Vector __attribute__((vector_size(kBytes)));
  typedef double Anywhere __attribute__((vector_size(kBytes), aligned(alignof(double)), may_alias));
  typedef int64_t Bits __attribute__((vector_size(kBytes)));
};

template <class S>
constexpr int kWidth = kBytes / static_cast<int>(sizeof(S));
template <class S>
constexpr int kLanes = 2 * kWidth<S>;

// Two registers, so that a parameter read from memory once serves twice.
template <class S>
struct Wide {
  using Vector = typename Register<S>::Vector;
  Vector part[2];

  // Copies are spelled out: left to itself, the compiler moves smaller pieces, and reading them
  // back as a whole is slow.
  Wide() = default;
  Wide(Vector a, Vector b) : part{a, b} {}
  Wide(const Wide& b) : part{b.part[0], b.part[1]} {}
  Wide& operator=(const Wide& b) {
    part[0] = b.part[0];
    part[1] = b.part[1];
    return *this;
  }

  Wide operator+(Wide b) const { return {part[0] + b.part[0], part[1] + b.part[1]}; }
  Wide operator-(Wide b) const { return {part[0] - b.part[0], part[1] - b.part[1]}; }
  Wide operator*(Wide b) const { return {part[0] * b.part[0], part[1] * b.part[1]}; }
  Wide operator/(Wide b) const { return {part[0] / b.part[0], part[1] / b.part[1]}; }
  Wide operator+(S b) const { return {part[0] + b, part[1] + b}; }
  Wide operator-(S b) const { return {part[0] - b, part[1] - b}; }
  Wide operator*(S b) const { return {part[0] * b, part[1] * b}; }
  void operator+=(Wide b) { *this = *this + b; }
  void operator-=(Wide b) { *this = *this - b; }
};

template <class S>
inline Wide<S> all(S value) {
  typename Register<S>::Vector zero = {};
  return {zero + value, zero + value};
}

template <class S>
inline Wide<S> root(Wide<S> x) {
  for (auto& part : x.part) {
    for (int lane = 0; lane < kWidth<S>; ++lane) part[lane] = __builtin_sqrt(part[lane]);
  }
  return x;
}

// A NaN stays a NaN: a comparison with it is false.
template <class S>
inline Wide<S> at_least_zero(Wide<S> x) {
  const typename Register<S>::Vector zero = {};
  return {x.part[0] < zero ? zero : x.part[0], x.part[1] < zero ? zero : x.part[1]};
}
template <class S>
inline Wide<S> where_positive(Wide<S> test, Wide<S> x) {
  const typename Register<S>::Vector zero = {};
  return {test.part[0] > zero ? x.part[0] : zero, test.part[1] > zero ? x.part[1] : zero};
}

// The sum over the lanes of a register, in order.
template <class S>
inline double total(typename Register<S>::Vector x) {
  double sum = 0.0;
  for (int lane = 0; lane < kWidth<S>; ++lane) sum += static_cast<double>(x[lane]);
  return sum;
}

template <class S>
inline Wide<S> whole(const S* row) {
  using Anywhere = typename Register<S>::Anywhere;
  return {*reinterpret_cast<const Anywhere*>(row),
          *reinterpret_cast<const Anywhere*>(row + kWidth<S>)};
}

// `count` trajectories of a row; the lanes beyond repeat the last one, so that they never do
// anything that it does not.
template <class S>
inline Wide<S> load(const S* row, int64_t count) {
  if (count == kLanes<S>) return whole(row);
  S lanes[kLanes<S>];
  for (int lane = 0; lane < kLanes<S>; ++lane) lanes[lane] = row[lane < count ? lane : count - 1];
  return whole(lanes);
}

// The same for gradients: the lanes beyond have none.
template <class S>
inline Wide<S> load_or_zero(const S* row, int64_t count) {
  if (count == kLanes<S>) return whole(row);
  S lanes[kLanes<S>] = {};
  memcpy(lanes, row, sizeof(S) * static_cast<size_t>(count));
  return whole(lanes);
}

template <class S>
inline void store(S* row, int64_t count, const Wide<S>& x) {
  using Anywhere = typename Register<S>::Anywhere;
  if (count == kLanes<S>) {
    *reinterpret_cast<Anywhere*>(row) = x.part[0];
    *reinterpret_cast<Anywhere*>(row + kWidth<S>) = x.part[1];
  } else {
    memcpy(row, &x, sizeof(S) * static_cast<size_t>(count));
  }
}

// What 2^y needs for each type: 2^f = 1 + f q(f) for |f| <= 1/2, the coefficients of q by
// interpolation at Chebyshev nodes (relative error below 6e-9 and 9e-18). Adding kRounder leaves
// the nearest whole number, plus the bias of the exponent, in the lowest bits: shifted to their
// place they are the power of two.
template <class S>
struct Exponential;
template <>
struct Exponential<float> {
  static constexpr float kSmallest = -126.0f, kRounder = 12582912.0f + 127.0f;  // 1.5 * 2^23 + bias
  static constexpr int kShift = 23, kTerms = 6;
  static constexpr float kTerm[kTerms] = {0.693147188026f,   0.240226507606f,   0.0555035711422f,
                                          0.00961808255728f, 0.00133908633647f, 0.000154531629451f};
};
template <>
struct Exponential<double> {
  static constexpr double kSmallest = -1022.0,
                          kRounder = 6755399441055744.0 + 1023.0;  // 1.5 * 2^52 + bias
  static constexpr int kShift = 52, kTerms = 11;
  static constexpr double kTerm[kTerms] = {
      0.69314718055994530942,     0.2402265069591009822,    0.055504108664821594339,
      0.0096181291076068885273,   0.001333355814641693531,  0.00015403530441736050155,
      0.000015252733829836118394, 1.3215442587921689653e-6, 1.0178062445845773521e-7,
      7.0725859492692236999e-9,   4.4549605981865183938e-10};
};

// 2^y = whole (1 + rest), where `whole` is a power of two itself and `rest` is correct to rounding
// however small it is.
template <class S>
struct Power {
  Wide<S> whole, rest;
};

// For y <= 0 (or above it by rounding); never smaller than the smallest normal number.
template <class S>
inline Power<S> power_in_parts(Wide<S> y) {
  using E = Exponential<S>;
  const typename Register<S>::Vector smallest = all(E::kSmallest).part[0];
  for (auto& part : y.part) part = part < smallest ? smallest : part;
  const Wide<S> rounded = y + E::kRounder;
  const Wide<S> fraction = y - (rounded - E::kRounder);
  Wide<S> q = all(E::kTerm[E::kTerms - 1]);
#pragma GCC unroll 16
  for (int term = E::kTerms - 2; term >= 0; --term) q = q * fraction + E::kTerm[term];
  Wide<S> power;
  for (int j = 0; j < 2; ++j) {
    power.part[j] =
        (typename Register<S>::Vector)((typename Register<S>::Bits)rounded.part[j] << E::kShift);
  }
  return {power, q * fraction};
}

// 2^y, correct to rounding.
template <class S>
inline Wide<S> power_of_two(Wide<S> y) {
  const Power<S> power = power_in_parts(y);
  return (power.rest + S(1)) * power.whole;
}

// tanh x, to a few units in the last place: with t = exp(-2 |x|) - 1 it is -t / (2 + t), with the
// sign of x. The parts of the exponential keep all digits of t near zero.
template <class S>
inline Wide<S> hyperbolic_tangent(Wide<S> x) {
  using Vector = typename Register<S>::Vector;
  using Bits = typename Register<S>::Bits;
  constexpr S kTwoLog2E = S(2.8853900817779268147);
  const Bits sign = (Bits{} + 1) << (8 * static_cast<int>(sizeof(S)) - 1);
  Wide<S> size;
  for (int j = 0; j < 2; ++j) size.part[j] = (Vector)((Bits)x.part[j] & ~sign);
  const Power<S> power = power_in_parts(size * -kTwoLog2E);
  const Wide<S> t = power.whole * power.rest + (power.whole - S(1));
  const Wide<S> result = (all(S(0)) - t) / (t + S(2));
  for (int j = 0; j < 2; ++j)
    x.part[j] = (Vector)(((Bits)result.part[j] & ~sign) | ((Bits)x.part[j] & sign));
  return x;
}

}  // namespace
