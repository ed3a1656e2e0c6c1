// The arrays of one call, checked: nothing of a wrong type or shape comes past this file.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "parameters.h"
#include "xla/ffi/api/ffi.h"

namespace prssm {

namespace ffi = xla::ffi;

enum Argument {
  kStates,
  kU,
  kEps,
  kZeta,
  kPrecision,
  kVariance,
  kWhite,
  kMean,
  kSpread,
  kWeight,
  kBias,
  kProcessVar,
  kNeuronOut,
  kNeuronWeight,
  kNeuronBias,
  kGStates
};
constexpr const char* kNames[] = {
    "x1 or states", "u",       "eps",    "zeta", "precision",   "variance",   "white",
    "mean",         "spread",  "weight", "bias", "process_var", "neuron_out", "neuron_weight",
    "neuron_bias",  "g_states"};
using Dims = std::vector<int64_t>;

inline std::string text(const Dims& dims) {
  std::string result = "(";
  for (size_t i = 0; i < dims.size(); ++i) result += (i ? ", " : "") + std::to_string(dims[i]);
  return result + ")";
}

struct Mistake {
  std::string message;
};

// One array; `jax.vmap` puts axes in front, each as long as the batch of models or, for what they
// share, one.
class Array {
 public:
  Array(const ffi::AnyBuffer& buffer, size_t batch_axes)
      : data_(buffer.untyped_data()), type(buffer.element_type()) {
    const Dims all(buffer.dimensions().begin(), buffer.dimensions().end());
    if (all.size() < batch_axes)
      throw Mistake{"an array of " + std::to_string(all.size()) + " axes has lost its batch"};
    batch.assign(all.begin(), all.begin() + static_cast<int64_t>(batch_axes));
    dims.assign(all.begin() + static_cast<int64_t>(batch_axes), all.end());
    for (int64_t size : dims) size_ *= size;
  }

  int64_t size() const { return size_; }  // of one model

  template <class T>
  T* of_model(int64_t model, const Dims& models) const {
    int64_t index = 0, stride = 1;
    for (size_t axis = models.size(); axis-- > 0; model /= models[axis]) {
      if (batch[axis] > 1) index += model % models[axis] * stride;
      stride *= batch[axis];
    }
    return static_cast<T*>(data_) + index * size_;
  }

  std::vector<double> as_double(int64_t model, const Dims& models) const {
    if (type == ffi::F32) return copy(of_model<const float>(model, models));
    return copy(of_model<const double>(model, models));
  }

  void assign(int64_t model, const Dims& models, const std::vector<double>& values) const {
    if (type == ffi::F32) {
      std::copy(values.begin(), values.end(), of_model<float>(model, models));
    } else {
      std::copy(values.begin(), values.end(), of_model<double>(model, models));
    }
  }

 private:
  template <class T>
  std::vector<double> copy(const T* from) const {
    return std::vector<double>(from, from + size_);
  }

  void* data_;
  int64_t size_ = 1;

 public:
  const ffi::DataType type;
  Dims batch, dims;
};

// All arrays of a call. `states_rank` is 2 where the first argument is x1, 3 where it is all
// states.
class Call {
 public:
  Call(ffi::RemainingArgs args, ffi::RemainingRets rets, size_t states_rank) {
    if (args.size() < kGStates)
      throw Mistake{"expected 15 or 16 arrays, got " + std::to_string(args.size())};
    const auto first = args.get<ffi::AnyBuffer>(0);
    if (first.has_error() || first->dimensions().size() < states_rank)
      throw Mistake{"x1 or states: too few axes"};
    const size_t axes = first->dimensions().size() - states_rank;
    for (size_t i = 0; i < args.size(); ++i)
      in.emplace_back(args.get<ffi::AnyBuffer>(i).value(), axes);
    for (size_t i = 0; i < rets.size(); ++i)
      out.emplace_back(*rets.get<ffi::AnyBuffer>(i).value(), axes);
    models.assign(axes, 1);
    for (const Array& array : in) {
      for (size_t axis = 0; axis < axes; ++axis)
        models[axis] = std::max(models[axis], array.batch[axis]);
    }
    for (int64_t size : models) model_count *= size;
    read_shape(states_rank == 2);
    check(states_rank == 2);
  }

  Parameters parameters(int64_t model) const {
    auto read = [&](Argument name) { return in[name].as_double(model, models); };
    auto of_each = [&](Argument name) { return copies(read(name), shape.dx / shape.sets()); };
    return {of_each(kZeta),
            of_each(kPrecision),
            of_each(kVariance),
            of_each(kWhite),
            shape.own_mean ? std::vector<double>() : read(kMean),
            read(kSpread),
            read(kWeight),
            read(kBias),
            read(kProcessVar),
            read(kNeuronOut),
            read(kNeuronWeight),
            read(kNeuronBias)};
  }

  // The gradient of an array from that of its copies.
  void assign_sum(Argument name, int64_t model, const std::vector<double>& values) const {
    const size_t size = values.size() / static_cast<size_t>(shape.dx / shape.sets());
    std::vector<double> sum(values.begin(), values.begin() + static_cast<int64_t>(size));
    for (size_t i = size; i < values.size(); ++i) sum[i % size] += values[i];
    out[name].assign(model, models, sum);
  }

  std::vector<Array> in, out;
  Dims models;
  int64_t model_count = 1, steps = 0, batch = 0;
  Shape shape{};
  ffi::DataType type = ffi::F32;  // of states, inputs and noise

 private:
  static std::vector<double> copies(const std::vector<double>& values, int64_t count) {
    std::vector<double> result;
    for (int64_t i = 0; i < count; ++i) result.insert(result.end(), values.begin(), values.end());
    return result;
  }

  void read_shape(bool forward) {
    const Dims &eps = in[kEps].dims, &u = in[kU].dims, &zeta = in[kZeta].dims;
    if (eps.size() != 3) throw Mistake{"eps: expected (T, Dx, B), got " + text(eps)};
    if (u.size() != 3) throw Mistake{"u: expected (T, Du, B), got " + text(u)};
    if (zeta.size() != 3) throw Mistake{"zeta: expected (Dx or 1, P, Din), got " + text(zeta)};
    steps = eps[0];
    batch = eps[2];
    type = in[kStates].type;
    shape = {eps[1],
             u[1],
             zeta[1],
             in[kSpread].size() > 0,
             in[kMean].dims.size() == 3,
             zeta[0] == 1 && eps[1] > 1,
             in[kNeuronBias].size()};
    if (steps < 1 || shape.dx < 1 || shape.points < 1)
      throw Mistake{"expected at least one step, state and inducing point"};
    if (type != ffi::F32 && type != ffi::F64)
      throw Mistake{"x1 or states: expected float32 or float64"};
    if (in.size() != (forward ? kGStates : kGStates + 1)) throw Mistake{"wrong number of arrays"};
    if (out.size() != (forward ? 1 : kGStates)) throw Mistake{"wrong number of results"};
  }

  void check(bool forward) const {
    const int64_t dx = shape.dx, du = shape.du, P = shape.points, din = shape.din(), T = steps,
                  B = batch;
    const int64_t V = shape.spread ? P : 0, sets = shape.sets(), H = shape.neurons;
    const Dims x1{dx, B}, states{T, dx, B}, mean = shape.own_mean ? Dims{dx, P, B} : Dims{dx, P};
    const Dims wanted[] = {forward ? x1 : states,
                           {T, du, B},
                           states,
                           {sets, P, din},
                           {sets, din},
                           {sets},
                           {sets, P, P},
                           mean,
                           {dx, V, V},
                           {dx, din},
                           {dx},
                           {dx},
                           {dx, H},
                           {H, din},
                           {H},
                           states};
    for (size_t i = 0; i < in.size(); ++i) {
      const bool trajectory = i <= kEps || i == kGStates || (i == kMean && shape.own_mean);
      expect(in[i], wanted[i], trajectory ? type : in[kZeta].type, kNames[i]);
      for (size_t axis = 0; axis < models.size(); ++axis) {
        const int64_t size = in[i].batch[axis];
        if (size != 1 && size != models[axis])
          throw Mistake{std::string(kNames[i]) + ": batch of " + std::to_string(size)};
      }
    }
    if (in[kZeta].type != ffi::F32 && in[kZeta].type != ffi::F64)
      throw Mistake{"zeta: expected float32 or float64"};
    for (size_t i = 0; i < out.size(); ++i) {
      if ((i == kU || i == kEps) && out[i].size() == 0) continue;  // not wanted
      if (out[i].batch != models)
        throw Mistake{std::string("result ") + kNames[i] + ": batch " + text(out[i].batch)};
      expect(out[i], forward ? states : i == kStates ? x1 : wanted[i], in[i].type, kNames[i]);
    }
  }

  static void expect(const Array& array, const Dims& wanted, ffi::DataType type, const char* name) {
    if (array.dims != wanted)
      throw Mistake{std::string(name) + ": expected " + text(wanted) + ", got " + text(array.dims)};
    if (array.type != type)
      throw Mistake{std::string(name) + ": its type differs from the others'"};
  }
};

}  // namespace prssm
