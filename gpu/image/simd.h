// NAVTALK_SIMD before a row loop: the compiler makes one copy for each instruction set and the
// loader takes the widest that this machine has, so that one binary runs everywhere. The loops are
// integer or use single float operations (-ffp-contract=off), so every copy gives the same pixels.
// Sanitizers instrument the selector, which runs before they are set up: one copy there.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define NAVTALK_SIMD __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define NAVTALK_SIMD
#endif
