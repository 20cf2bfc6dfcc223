#include "gpu/kernels/parallel_tasks.h"

#include <omp.h>

#include <atomic>
#include <exception>

namespace navtalk::kernels {

void for_each_parallel(std::int64_t n, int threads, const std::function<void(std::int64_t)>& work) {
  if (threads <= 1 || n < threads) {
    for (std::int64_t i = 0; i < n; ++i) work(i);
    return;
  }
  std::exception_ptr failure;
  std::atomic_flag failed;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (std::int64_t i = 0; i < n; ++i) {
    try {
      if (!failed.test()) work(i);
    } catch (...) {
      if (!failed.test_and_set()) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

OneThread::OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
OneThread::~OneThread() { omp_set_num_threads(before_); }

}  // namespace navtalk::kernels
