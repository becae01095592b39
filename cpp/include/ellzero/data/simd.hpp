// One binary for every x86-64: GCC compiles each function marked ELLZERO_SIMD once per instruction set and the loader
// picks the best one the processor has, where it can (glibc's). Elsewhere (ARM, Windows, macOS, other compilers, sanitizers)
// the baseline is used; that of ARM has vectors of two numbers.
#pragma once

#include <cstdint>  // says whether this is glibc

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(ELLZERO_NO_MULTIVERSION)
#define ELLZERO_SIMD __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define ELLZERO_SIMD
#endif

// Helpers of a multiversioned function must be inlined into each of its versions.
#define ELLZERO_INLINE inline __attribute__((always_inline))
