// NAVTALK_CHECK(condition): a broken invariant ends the process with file, line and condition.
// For programming errors only; bad input throws navtalk::Error.
#pragma once

#include <cstdio>
#include <cstdlib>

#define NAVTALK_CHECK(condition)                                                           \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      std::fprintf(stderr, "navtalk: broken invariant at %s:%d: %s\n", __FILE__, __LINE__, \
                   #condition);                                                            \
      std::abort();                                                                        \
    }                                                                                      \
  } while (false)
