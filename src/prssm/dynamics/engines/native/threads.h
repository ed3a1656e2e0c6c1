// Jobs side by side, on as many threads as PRSSM_THREADS says or else as this process may use
// processors.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace prssm {

// While it lives, numbers too small for full precision count as zero in this thread. Kernels of
// points far apart are such numbers, and some processors take a hundred cycles for each.
class NoSubnormals {
 public:
#if defined(__x86_64__)
  NoSubnormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlush); }
  ~NoSubnormals() { _mm_setcsr(before_); }

 private:
  static constexpr unsigned kFlush = 0x8040;  // results to zero, and operands
  unsigned before_;
#elif defined(__aarch64__)
  NoSubnormals() {
    __asm__ volatile("mrs %0, fpcr" : "=r"(before_));
    __asm__ volatile("msr fpcr, %0" : : "r"(before_ | kFlush));
  }
  ~NoSubnormals() { __asm__ volatile("msr fpcr, %0" : : "r"(before_)); }

 private:
  static constexpr uint64_t kFlush = uint64_t{1} << 24;
  uint64_t before_;
#else
  NoSubnormals() {}
#endif
  NoSubnormals(const NoSubnormals&) = delete;
  NoSubnormals& operator=(const NoSubnormals&) = delete;
};

inline int64_t usable_threads() {
  if (const char* asked = std::getenv("PRSSM_THREADS")) {
    const long count = std::strtol(asked, nullptr, 10);
    if (count > 0) return count;
  }
#if defined(__linux__)
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof mine, &mine) == 0) return CPU_COUNT(&mine);
#endif
  const unsigned count = std::thread::hardware_concurrency();
  return count > 0 ? count : 1;
}

// job(worker, index) for every index; `worker` < `workers` tells which thread it is. Jobs must not
// throw.
template <class Job>
void run_jobs(int64_t jobs, int64_t workers, Job job) {
  std::atomic<int64_t> next{0};
  auto work = [&](int64_t worker) {
    const NoSubnormals flushed;
    for (int64_t index = next++; index < jobs; index = next++) job(worker, index);
  };
  std::vector<std::thread> helpers;
  helpers.reserve(static_cast<size_t>(workers));
  try {
    for (int64_t worker = 1; worker < workers; ++worker) helpers.emplace_back(work, worker);
  } catch (const std::system_error&) {
    // No more threads to be had: those that there are do all jobs.
  }
  work(0);
  for (auto& helper : helpers) helper.join();
}

}  // namespace prssm
