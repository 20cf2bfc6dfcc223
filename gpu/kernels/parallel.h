// Splits a loop over the threads that at::set_num_threads chose: one OpenMP pool serves libtorch
// and our own kernels. Only for sources that are compiled with OpenMP.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace navtalk::kernels {

// Calls body(begin, end) on disjoint ranges that cover [0, n). `work` is the number of elements
// that one index touches: small loops stay on the calling thread, as do all within for_each_parallel.
template <class Body>
void parallel_for(std::int64_t n, std::int64_t work, const Body& body) {
  constexpr std::int64_t k_least_work = 8192;
  const std::int64_t threads =
      std::min<std::int64_t>({omp_get_max_threads(), n, n * work / k_least_work});
  if (threads <= 1 || omp_in_parallel() != 0) {
    if (n > 0) body(std::int64_t{0}, n);
    return;
  }
#pragma omp parallel num_threads(static_cast <int>(threads))
  {
    const std::int64_t team = omp_get_num_threads(), t = omp_get_thread_num();
    body(n * t / team, n * (t + 1) / team);
  }
}

}  // namespace navtalk::kernels
