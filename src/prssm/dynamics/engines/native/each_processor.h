// A function marked with it is compiled for each kind of processor, and the right copy is taken
// when it runs.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define PRSSM_EACH_PROCESSOR \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PRSSM_EACH_PROCESSOR
#endif
