// Free runs of a small recurrent network, x' = A v + b + O tanh(W v + c) with v = [x; u] and y = C
// x + D u + d, and the normal equations of their errors. `networks/equations.py` is the other side
// of this, and its oracle.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "each_processor.h"

namespace {

constexpr int64_t kBlock = 128;  // rows of the Jacobian that are held at once
constexpr double kLost = 1e6;    // a state beyond this, in scaled units, has run away

// Sizes, and where each array begins in the row of parameters. Those of the dynamics come first,
// the first state last.
struct Shape {
  int64_t dx, du, dy, neurons;
  int64_t din() const { return dx + du; }
  int64_t bias() const { return dx * din(); }
  int64_t out() const { return bias() + dx; }
  int64_t into() const { return out() + dx * neurons; }
  int64_t into_bias() const { return into() + neurons * din(); }
  int64_t dynamic() const { return into_bias() + neurons; }
  int64_t states() const { return dynamic(); }
  int64_t inputs() const { return states() + dy * dx; }
  int64_t offset() const { return inputs() + dy * du; }
  int64_t first() const { return offset() + dy; }
  int64_t size() const { return first() + dx; }
};

// Eight numbers that a processor with registers that wide takes at once; the compiler divides them
// for others.
using Eight = double __attribute__((vector_size(64), aligned(8)));
constexpr int64_t kWide = 8, kHigh = 6, kColumns = 4 * kWide;

int64_t padded(int64_t count, int64_t to) { return (count + to - 1) / to * to; }

// to += factor * from
PRSSM_EACH_PROCESSOR
void add(double factor, const double* from, int64_t count, double* to) {
  for (int64_t k = 0; k < count; ++k) to[k] += factor * from[k];
}

// to (states, width) = factor (states, states) times from (states, width); the width is a multiple
// of kColumns.
PRSSM_EACH_PROCESSOR
void transform(const double* factor, const double* from, int64_t states, int64_t width,
               double* to) {
  for (int64_t k = 0; k < width; k += kColumns) {
    for (int64_t i = 0; i < states; ++i) {
      Eight sum[4] = {};
      for (int64_t j = 0; j < states; ++j) {
        const double weight = factor[i * states + j];
        const Eight* row = reinterpret_cast<const Eight*>(from + j * width + k);
        for (int64_t c = 0; c < 4; ++c) sum[c] += weight * row[c];
      }
      Eight* row = reinterpret_cast<Eight*>(to + i * width + k);
      for (int64_t c = 0; c < 4; ++c) row[c] = sum[c];
    }
  }
}

// The upper half of square (width, width) += J'J, of the rows (count, width) of J; the width is a
// multiple of both tiles.
PRSSM_EACH_PROCESSOR
void add_square(const double* rows, int64_t count, int64_t width, double* square) {
  for (int64_t i = 0; i < width; i += kHigh) {
    for (int64_t j = i / kWide * kWide; j < width; j += kWide) {
      Eight sum[kHigh] = {};
      const double* row = rows;
      for (int64_t r = 0; r < count; ++r, row += width) {
        const Eight right = *reinterpret_cast<const Eight*>(row + j);
        for (int64_t a = 0; a < kHigh; ++a) sum[a] += row[i + a] * right;
      }
      for (int64_t a = 0; a < kHigh; ++a)
        *reinterpret_cast<Eight*>(square + (i + a) * width + j) += sum[a];
    }
  }
}

class Network {
 public:
  Network(const Shape& shape, const double* theta)
      : n_(shape), theta_(theta), x_(theta + shape.first(), theta + shape.first() + shape.dx),
        v_(shape.din()), t_(shape.neurons), next_(shape.dx) {}

  const std::vector<double>& state() const { return x_; }

  // The outputs of the present state.
  void look(const double* u, double* y) {
    for (int64_t j = 0; j < n_.dx; ++j) v_[j] = x_[j];
    for (int64_t j = 0; j < n_.du; ++j) v_[n_.dx + j] = u[j];
    for (int64_t o = 0; o < n_.dy; ++o) {
      double sum = theta_[n_.offset() + o];
      for (int64_t j = 0; j < n_.dx; ++j) sum += theta_[n_.states() + o * n_.dx + j] * x_[j];
      for (int64_t j = 0; j < n_.du; ++j) sum += theta_[n_.inputs() + o * n_.du + j] * u[j];
      y[o] = sum;
    }
  }

  // The next state of what was looked at; false where it has run away.
  bool step() {
    const int64_t din = n_.din();
    for (int64_t h = 0; h < n_.neurons; ++h) {
      double sum = theta_[n_.into_bias() + h];
      for (int64_t j = 0; j < din; ++j) sum += theta_[n_.into() + h * din + j] * v_[j];
      t_[h] = std::tanh(sum);
    }
    bool stays = true;
    for (int64_t i = 0; i < n_.dx; ++i) {
      double sum = theta_[n_.bias() + i];
      for (int64_t j = 0; j < din; ++j) sum += theta_[i * din + j] * v_[j];
      for (int64_t h = 0; h < n_.neurons; ++h) sum += theta_[n_.out() + i * n_.neurons + h] * t_[h];
      next_[i] = sum;
      stays = stays && std::fabs(sum) < kLost;
    }
    x_ = next_;
    return stays;
  }

 protected:
  const Shape n_;
  const double* theta_;
  std::vector<double> x_, v_, t_, next_;
};

// The same with dx/dtheta: a row of `slope_` for each state, the parameters of the dynamics first,
// then the first state.
class Sensitive : public Network {
 public:
  Sensitive(const Shape& shape, const double* theta)
      : Network(shape, theta), width_(padded(shape.dynamic() + shape.dx, kColumns)),
        slope_(shape.dx * width_), later_(slope_.size()), along_(shape.dx * shape.dx) {
    for (int64_t i = 0; i < n_.dx; ++i) slope_[i * width_ + n_.dynamic() + i] = 1.0;
  }

  // One row of the Jacobian, for output o of what was looked at.
  void row(int64_t o, const double* u, double* to) {
    std::memset(to, 0, n_.size() * sizeof(double));
    double* first = to + n_.first();
    for (int64_t j = 0; j < n_.dx; ++j) {
      const double weight = theta_[n_.states() + o * n_.dx + j];
      const double* from = &slope_[j * width_];
      add(weight, from, n_.dynamic(), to);
      for (int64_t k = 0; k < n_.dx; ++k) first[k] += weight * from[n_.dynamic() + k];
      to[n_.states() + o * n_.dx + j] = x_[j];
    }
    for (int64_t j = 0; j < n_.du; ++j) to[n_.inputs() + o * n_.du + j] = u[j];
    to[n_.offset() + o] = 1.0;
  }

  bool step() {
    const int64_t din = n_.din(), H = n_.neurons;
    if (!Network::step()) return false;
    for (int64_t i = 0; i < n_.dx; ++i) {
      double* along = &along_[i * n_.dx];
      for (int64_t j = 0; j < n_.dx; ++j) along[j] = theta_[i * din + j];
      for (int64_t h = 0; h < H; ++h) {
        const double factor = theta_[n_.out() + i * H + h] * (1.0 - t_[h] * t_[h]);
        for (int64_t j = 0; j < n_.dx; ++j) along[j] += factor * theta_[n_.into() + h * din + j];
      }
    }
    transform(along_.data(), slope_.data(), n_.dx, width_, later_.data());
    for (int64_t i = 0; i < n_.dx; ++i) {
      double* to = &later_[i * width_];
      for (int64_t j = 0; j < din; ++j) to[i * din + j] += v_[j];
      to[n_.bias() + i] += 1.0;
      for (int64_t h = 0; h < H; ++h) {
        const double factor = theta_[n_.out() + i * H + h] * (1.0 - t_[h] * t_[h]);
        to[n_.out() + i * H + h] += t_[h];
        add(factor, v_.data(), din, to + n_.into() + h * din);
        to[n_.into_bias() + h] += factor;
      }
    }
    slope_.swap(later_);
    return true;
  }

 private:
  const int64_t width_;
  std::vector<double> slope_, later_, along_;
};

int free_run(const Shape& n, int64_t rows, const double* theta, const double* u, double* x,
             double* y) {
  Network network(n, theta);
  for (int64_t t = 0; t < rows; ++t) {
    network.look(u + t * n.du, y + t * n.dy);
    std::memcpy(x + t * n.dx, network.state().data(), n.dx * sizeof(double));
    if (t + 1 < rows && !network.step()) return 2;
  }
  return 0;
}

int equations(const Shape& n, int64_t rows, const double* theta, const double* u, const double* y,
              double* square, double* slope, double* error) {
  Sensitive network(n, theta);
  const int64_t size = n.size(), width = padded(size, kWide * kHigh / 2);
  std::vector<double> jacobian(kBlock * width), wide(width * width), run(n.dy);
  int64_t held = 0;
  for (int64_t t = 0; t < rows; ++t) {
    network.look(u + t * n.du, run.data());
    for (int64_t o = 0; o < n.dy; ++o) {
      const double measured = y[t * n.dy + o];
      if (std::isnan(measured)) continue;
      double* row = &jacobian[held * width];
      network.row(o, u + t * n.du, row);
      const double off = run[o] - measured;
      *error += off * off;
      add(off, row, size, slope);
      if (++held == kBlock) {
        add_square(jacobian.data(), held, width, wide.data());
        held = 0;
      }
    }
    if (t + 1 < rows && !network.step()) return 2;
  }
  add_square(jacobian.data(), held, width, wide.data());
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = i; j < size; ++j)
      square[i * size + j] = square[j * size + i] = wide[i * width + j];
  }
  return 0;
}

template <class Work>
int without_throwing(Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return 1;
  }
}

}  // namespace

// States (T, Dx) and outputs (T, Dy) over inputs u (T, Du). Returns 0; 1 where memory did not
// suffice, 2 where the run is lost.
extern "C" int prssm_network_run(int64_t dx, int64_t du, int64_t dy, int64_t neurons, int64_t rows,
                                 const double* theta, const double* u, double* x, double* y) {
  return without_throwing([&] { return free_run({dx, du, dy, neurons}, rows, theta, u, x, y); });
}

// Over the measured values (not NaN) of y (T, Dy): J'J in square (size, size); J'e is added to
// slope and e'e to error, where e is run minus measured and J its derivative. Returns as above.
extern "C" int prssm_network_equations(int64_t dx, int64_t du, int64_t dy, int64_t neurons,
                                       int64_t rows, const double* theta, const double* u,
                                       const double* y, double* square, double* slope,
                                       double* error) {
  return without_throwing(
      [&] { return equations({dx, du, dy, neurons}, rows, theta, u, y, square, slope, error); });
}
