// What a fuzzer claims about its subject; a claim that does not hold is a finding.
#pragma once

#include <cstdio>

namespace navtalk {

inline void expect(bool holds, const char* claim) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", claim);
  __builtin_trap();
}

}  // namespace navtalk
