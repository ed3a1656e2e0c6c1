// A GPU's blocks on the CPU, for tests: every thread of a block is a fiber, and fibers take turns
// at the places where threads wait for each other. A thread that does not wait where it should
// reads what is not there yet: the tests see it.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "xla/ffi/api/ffi.h"

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

namespace prssm {

using std::exp;
using std::exp2;
using std::min;
using std::sqrt;
using std::tanh;

class Block {
 public:
  Block(int threads, int64_t bytes)
      : shared(static_cast<size_t>(bytes / 8 + 8)), boxes(static_cast<size_t>(threads)),
        threads_(threads) {}

  void run(const std::function<void()>& body) {
    body_ = &body;
    fibers_.resize(static_cast<size_t>(threads_));
    for (int i = 0; i < threads_; ++i) start(fibers_[static_cast<size_t>(i)]);
    for (int running = threads_; running > 0;) {
      for (thread = 0; thread < threads_; ++thread) {
        Fiber& fiber = fibers_[static_cast<size_t>(thread)];
        if (fiber.done) continue;
        swapcontext(&scheduler_, &fiber.context);
        running -= fiber.done;
      }
    }
  }

  // Wait until `count` threads have come to the meeting point `name`.
  void meet(int64_t name, int count) {
    Meeting& meeting = meetings_[name];
    const int64_t round = meeting.round;
    if (++meeting.arrived == count) {
      meeting.arrived = 0;
      ++meeting.round;
      return;
    }
    while (meetings_[name].round == round)
      swapcontext(&fibers_[static_cast<size_t>(thread)].context, &scheduler_);
  }

  int size() const { return threads_; }

  std::vector<double> shared;
  std::vector<double> boxes;  // what threads hand over to each other
  int thread = 0;

 private:
  static constexpr size_t kStack = 64 * 1024;
  struct Fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack{new char[kStack]};  // not set to zero: there are many
    bool done = false;
  };
  struct Meeting {
    int arrived = 0;
    int64_t round = 0;
  };

  void start(Fiber& fiber) {
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = &scheduler_;
    makecontext(&fiber.context, &Block::enter, 0);
  }

  static void enter();

  const std::function<void()>* body_ = nullptr;
  std::vector<Fiber> fibers_;
  std::map<int64_t, Meeting> meetings_;
  ucontext_t scheduler_;
  const int threads_;
};

inline thread_local Block* block = nullptr;
inline thread_local dim3 gridDim, blockIdx, blockDim;

inline void Block::enter() {
  (*block->body_)();
  block->fibers_[static_cast<size_t>(block->thread)].done = true;
}

struct ThreadIndex {
  struct {
    operator unsigned() const { return static_cast<unsigned>(block->thread); }
  } x;
};
inline const ThreadIndex threadIdx;

inline void __syncthreads() { block->meet(0, block->size()); }
inline void __syncwarp() { block->meet(1 + block->thread / 32, 32); }

template <class S>
S* shared_memory() {
  return reinterpret_cast<S*>(block->shared.data());
}

template <int, class S>
S swapped(S value, int apart) {
  const int me = block->thread, other = me ^ apart;
  const int64_t pair = 1000 + int64_t(me < other ? me : other) * 64 + apart;
  block->boxes[static_cast<size_t>(me)] = value;
  block->meet(pair, 2);
  const S theirs = static_cast<S>(block->boxes[static_cast<size_t>(other)]);
  block->meet(pair, 2);
  return theirs;
}

template <class S>
S from_lane(S value, int lane) {
  const int me = block->thread;
  block->boxes[static_cast<size_t>(me)] = value;
  __syncwarp();
  const S theirs = static_cast<S>(block->boxes[static_cast<size_t>(me / 32 * 32 + lane)]);
  __syncwarp();
  return theirs;
}

template <class S>
void copy_ahead(S* to, const S* from) {
  *to = *from;
}

inline void all_copied() {}

using Stream = xla::ffi::RunId;  // a CPU has no streams; this only takes their place
using StreamContext = xla::ffi::RunId;

// The imagined GPU; tests change it so that the work is cut in all ways.
inline int64_t setting(const char* name, int64_t otherwise) {
  const char* given = std::getenv(name);
  return given != nullptr ? std::atoll(given) : otherwise;
}
inline int64_t shared_memory_limit() { return setting("PRSSM_EMULATED_MEMORY", 227 * 1024); }
inline int processors() { return static_cast<int>(setting("PRSSM_EMULATED_PROCESSORS", 2)); }

template <class... Formal, class... Actual>
std::string launch(void (*kernel)(Formal...), dim3 grid, int threads, int64_t bytes, Stream,
                   Actual... arguments) {
  gridDim = grid;
  blockDim = {static_cast<unsigned>(threads)};
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = {x, y, z};
        Block here(threads, bytes);
        block = &here;
        here.run([&] { kernel(arguments...); });
      }
    }
  }
  return "";
}

}  // namespace prssm
