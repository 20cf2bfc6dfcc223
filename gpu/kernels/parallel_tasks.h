// Pieces of work that need nothing of each other, each on one thread: small nets pay more for
// threads that wait for each other at every operator than for the work.
#pragma once

#include <cstdint>
#include <functional>

namespace navtalk::kernels {

// Calls work(i) once for every i in [0, n), on up to `threads` threads of the caller's pool; who
// is done takes the next, so that a thread that others hold up does less. With fewer pieces than
// threads they come one after the other on the caller's thread, and what they call may use all
// threads. The first exception is passed on when all have ended.
void for_each_parallel(std::int64_t n, int threads, const std::function<void(std::int64_t)>& work);

// While it lives, what the calling thread calls stays on it. For library calls whose sums depend on the number of threads.
class OneThread {
 public:
  OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  ~OneThread();

 private:
  int before_;
};

}  // namespace navtalk::kernels
