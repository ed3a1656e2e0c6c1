// One damped step of least squares whose records share most parameters and have some of their own,
// which are eliminated. `networks/damped_step.py` is the other side of this, and its oracle.
//
// The libraries that NumPy calls would do it too. But several threads step at once here, and these
// libraries start threads of their own for each call: for matrices of a hundred rows that costs ten
// times the work.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <new>
#include <vector>

#include "each_processor.h"

#if defined(__GNUC__)
#define PRSSM_INLINE inline __attribute__((always_inline))
#else
#define PRSSM_INLINE inline
#endif

namespace {

constexpr int64_t kSums = 8;  // partial sums, which the compiler keeps in one register or a few
constexpr double kLeastCurvature = 1e-9;  // of the largest one, that is damped

PRSSM_INLINE double dot(const double* a, const double* b, int64_t count) {
  double sums[kSums] = {};
  int64_t k = 0;
  for (; k + kSums <= count; k += kSums) {
    for (int64_t s = 0; s < kSums; ++s) sums[s] += a[k + s] * b[k + s];
  }
  for (; k < count; ++k) sums[k % kSums] += a[k] * b[k];
  double sum = 0.0;
  for (double part : sums) sum += part;
  return sum;
}

// The lower half of A = LL' becomes L; false where A is not positive definite.
PRSSM_EACH_PROCESSOR
bool factorise(std::vector<double>& A, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    double* row = &A[i * n];
    for (int64_t j = 0; j <= i; ++j) {
      const double rest = row[j] - dot(row, &A[j * n], j);
      if (j < i)
        row[j] = rest / A[j * n + j];
      else if (rest > 0.0)
        row[i] = std::sqrt(rest);
      else
        return false;
    }
  }
  return true;
}

// x = L^-1 x
PRSSM_EACH_PROCESSOR
void solve_lower(const std::vector<double>& L, int64_t n, double* x) {
  for (int64_t i = 0; i < n; ++i) x[i] = (x[i] - dot(&L[i * n], x, i)) / L[i * n + i];
}

// x = L'^-1 x
void solve_upper(const std::vector<double>& L, int64_t n, double* x) {
  for (int64_t i = n - 1; i >= 0; --i) {
    x[i] /= L[i * n + i];
    for (int64_t j = 0; j < i; ++j) x[j] -= L[i * n + j] * x[i];
  }
}

// What is kept of a record: the factor of its own equations, L^-1 D_os with a row for each shared
// parameter, L^-1 g_o.
struct Eliminated {
  std::vector<double> factor, across, back;
};

int step(int64_t records, int64_t size, int64_t shared, const double* squares, const double* slopes,
         double damping, double* change, double* own_change) {
  const int64_t own = size - shared;
  std::vector<double> square(shared * shared), slope(shared), curvature(size);
  std::vector<Eliminated> kept(records);
  for (int64_t r = 0; r < records; ++r) {
    const double* given = squares + r * size * size;
    const double* g = slopes + r * size;
    for (int64_t i = 0; i < size; ++i) curvature[i] = given[i * size + i];
    const double least = kLeastCurvature * *std::max_element(curvature.begin(), curvature.end());
    const auto brake = [&](int64_t i) { return damping * std::max(curvature[i], least); };
    Eliminated& one = kept[r];
    one.factor.resize(own * own);
    one.across.resize(shared * own);
    one.back.assign(g + shared, g + size);
    for (int64_t i = 0; i < own; ++i) {
      for (int64_t j = 0; j <= i; ++j)
        one.factor[i * own + j] = given[(shared + i) * size + shared + j];
      one.factor[i * own + i] += brake(shared + i);
    }
    if (!factorise(one.factor, own)) return 2;
    solve_lower(one.factor, own, one.back.data());
    for (int64_t i = 0; i < shared; ++i) {
      double* row = &one.across[i * own];
      for (int64_t j = 0; j < own; ++j) row[j] = given[i * size + shared + j];
      solve_lower(one.factor, own, row);
      slope[i] += g[i] - dot(row, one.back.data(), own);
      for (int64_t j = 0; j <= i; ++j) {
        square[i * shared + j] += given[i * size + j] - dot(row, &one.across[j * own], own);
      }
      square[i * shared + i] += brake(i);
    }
  }
  if (!factorise(square, shared)) return 2;
  std::copy(slope.begin(), slope.end(), change);
  solve_lower(square, shared, change);
  solve_upper(square, shared, change);
  for (int64_t r = 0; r < records; ++r) {
    double* mine = own_change + r * own;
    std::copy(kept[r].back.begin(), kept[r].back.end(), mine);
    for (int64_t i = 0; i < shared; ++i) {
      for (int64_t j = 0; j < own; ++j) mine[j] -= kept[r].across[i * own + j] * change[i];
    }
    solve_upper(kept[r].factor, own, mine);
  }
  return 0;
}

}  // namespace

// From J'J (records, size, size), whole, and J'e (records, size) of each record: what to subtract
// from the parameters that come first and are shared, and from each record's own (records, size -
// shared). Returns 0; 1 where memory did not suffice, 2 where rounding leaves no step.
extern "C" int prssm_damped_step(int64_t records, int64_t size, int64_t shared,
                                 const double* squares, const double* slopes, const double* damping,
                                 double* change, double* own_change) {
  try {
    return step(records, size, shared, squares, slopes, *damping, change, own_change);
  } catch (const std::bad_alloc&) {
    return 1;
  }
}
