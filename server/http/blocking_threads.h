// A few threads for calls that block, such as those of the database, so that the I/O thread never
// does. Its end runs what is queued, and waits for it.
#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <utility>

#include "server/http/run_on.h"

namespace navtalk::server {

class BlockingThreads {
 public:
  explicit BlockingThreads(std::size_t threads) : pool_(threads) {}
  ~BlockingThreads() { pool_.join(); }
  BlockingThreads(const BlockingThreads&) = delete;
  BlockingThreads& operator=(const BlockingThreads&) = delete;

  // `co_await threads.run(work)` resumes on the caller's thread with the result of `work`, or its
  // exception.
  template <class Work>
  auto run(Work work) {
    return run_on(pool_.get_executor(), std::move(work));
  }
  // Nobody waits for it; `work` throws nothing.
  template <class Work>
  void post(Work work) {
    boost::asio::post(pool_, std::move(work));
  }

 private:
  boost::asio::thread_pool pool_;
};

}  // namespace navtalk::server
