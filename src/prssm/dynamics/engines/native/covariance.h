// The covariance of one dimension's inducing points: K = s^2 exp(-|zeta_p - zeta_q|^2 / 2) with
// inputs over length scales, its Cholesky factor L (with the jitter of gp/linalg.py) and W = L^-1;
// and the way back from gradients of W.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace prssm {

constexpr double kJitter = 1e-6;  // relative to the diagonal, as JITTER in gp/linalg.py

class Covariance {
 public:
  Covariance(int64_t points, int64_t din)
      : P_(points), din_(din), e_(points * points), L_(points * points), W_(points * points),
        a_(points * points), b_(points * points) {}

  // False where K is not positive definite.
  bool factor(const double* zeta, const double* precision, double variance) {
    for (int64_t p = 0; p < P_; ++p) {
      for (int64_t q = 0; q <= p; ++q) {
        double square = 0.0;
        for (int64_t i = 0; i < din_; ++i) {
          const double distance = precision[i] * (zeta[p * din_ + i] - zeta[q * din_ + i]);
          square += distance * distance;
        }
        e_[p * P_ + q] = e_[q * P_ + p] = std::exp(-0.5 * square);
      }
    }
    return cholesky(variance) && (invert(), true);
  }

  const std::vector<double>& white() const { return W_; }

  // Adds the gradients of zeta, precision and variance to what is there, given d loss / d W (lower
  // triangle).
  void pull_back(const double* g_white, const double* zeta, const double* precision,
                 double variance, double* g_zeta, double* g_precision, double* g_variance) {
    cholesky_adjoint(g_white);  // leaves d loss / d K in b_
    for (int64_t p = 0; p < P_; ++p) {
      for (int64_t q = 0; q < P_; ++q) {
        const double g = b_[p * P_ + q], w = g * variance * e_[p * P_ + q];
        *g_variance += g * e_[p * P_ + q];
        for (int64_t i = 0; i < din_; ++i) {
          const double apart = zeta[p * din_ + i] - zeta[q * din_ + i];
          g_zeta[p * din_ + i] -=
              2.0 * w * precision[i] * precision[i] * apart;  // twice: K is symmetric
          g_precision[i] -= w * precision[i] * apart * apart;
        }
      }
    }
  }

 private:
  bool cholesky(double variance) {
    for (int64_t p = 0; p < P_; ++p) {
      for (int64_t q = 0; q <= p; ++q) {
        double sum = variance * (e_[p * P_ + q] + (p == q ? kJitter : 0.0));
        for (int64_t r = 0; r < q; ++r) sum -= L_[p * P_ + r] * L_[q * P_ + r];
        if (p == q && !(sum > 0.0)) return false;
        L_[p * P_ + q] = p == q ? std::sqrt(sum) : sum / L_[q * P_ + q];
      }
    }
    return true;
  }

  // Row after row of W = (I - (L - diag) W) / diag.
  void invert() {
    for (int64_t p = 0; p < P_; ++p) {
      double* row = &W_[p * P_];
      for (int64_t q = 0; q < P_; ++q) row[q] = p == q ? 1.0 : 0.0;
      for (int64_t r = 0; r < p; ++r) {
        for (int64_t q = 0; q <= r; ++q) row[q] -= L_[p * P_ + r] * W_[r * P_ + q];
      }
      for (int64_t q = 0; q <= p; ++q) row[q] /= L_[p * P_ + p];
    }
  }

  // dL = -tril(W' g W'), phi = tril(L' dL) with half the diagonal, dK = sym(W' phi W), and through
  // the jitter's mean.
  void cholesky_adjoint(const double* g) {
    for (int64_t p = 0; p < P_; ++p) {  // a = W' g
      double* row = &a_[p * P_];
      for (int64_t q = 0; q < P_; ++q) row[q] = 0.0;
      for (int64_t r = p; r < P_; ++r) {
        for (int64_t q = 0; q <= r; ++q) row[q] += W_[r * P_ + p] * g[r * P_ + q];
      }
    }
    for (int64_t p = 0; p < P_; ++p) {  // b = dL = -tril(a W')
      for (int64_t q = 0; q <= p; ++q) {
        double sum = 0.0;
        for (int64_t r = 0; r <= q; ++r) sum += a_[p * P_ + r] * W_[q * P_ + r];
        b_[p * P_ + q] = -sum;
      }
    }
    for (int64_t p = 0; p < P_; ++p) {  // a = phi = tril(L' b), half the diagonal
      double* row = &a_[p * P_];
      for (int64_t q = 0; q < P_; ++q) row[q] = 0.0;
      for (int64_t r = p; r < P_; ++r) {
        for (int64_t q = 0; q <= p; ++q) row[q] += L_[r * P_ + p] * b_[r * P_ + q];
      }
      row[p] *= 0.5;
    }
    both_sides();
    double trace = 0.0;
    for (int64_t p = 0; p < P_; ++p) trace += b_[p * P_ + p];
    for (int64_t p = 0; p < P_; ++p) b_[p * P_ + p] += kJitter * trace / static_cast<double>(P_);
  }

  // b = W' a W for a lower triangular a, symmetrised.
  void both_sides() {
    std::vector<double> right(P_ * P_, 0.0);  // a W
    for (int64_t p = 0; p < P_; ++p) {
      for (int64_t r = 0; r <= p; ++r) {
        for (int64_t q = 0; q <= r; ++q) right[p * P_ + q] += a_[p * P_ + r] * W_[r * P_ + q];
      }
    }
    for (double& value : b_) value = 0.0;
    for (int64_t r = 0; r < P_; ++r) {
      for (int64_t p = 0; p <= r; ++p) {
        for (int64_t q = 0; q <= r; ++q) b_[p * P_ + q] += W_[r * P_ + p] * right[r * P_ + q];
      }
    }
    for (int64_t p = 0; p < P_; ++p) {
      for (int64_t q = 0; q < p; ++q)
        b_[p * P_ + q] = b_[q * P_ + p] = 0.5 * (b_[p * P_ + q] + b_[q * P_ + p]);
    }
  }

  const int64_t P_, din_;
  std::vector<double> e_, L_, W_, a_, b_;
};

}  // namespace prssm
