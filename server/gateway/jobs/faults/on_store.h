// Calls of the pool's store for whoever waits for an answer. Users are told that it is away, and its own words go to the
// log: they name its address and files.
#pragma once

#include "core/base/error.h"
#include "server/gateway/jobs/faults/own_fault.h"

namespace navtalk::server {

// Of the same result as `work`, which only calls the store and lives as long; StoreFault for its Error{failed}.
template <class Work>
auto on_store(Work& work) {
  return [&work] {
    try {
      return work();
    } catch (const Error& error) {
      if (error.code() != Code::failed) throw;
      throw StoreFault(Code::failed, error.message());
    }
  };
}

}  // namespace navtalk::server
