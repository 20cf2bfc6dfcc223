// What this gateway's disk or store did not take: neither a job nor its worker is to blame.
#pragma once

#include <exception>

#include "core/base/error.h"

namespace navtalk::server {

class OwnFault : public Error {
 public:
  using Error::Error;
};

// A file of the job is here, and cannot be read. Another gateway may have one that can.
class UnreadableFile : public OwnFault {
 public:
  using OwnFault::OwnFault;
};

// Calls `work`, which is of this gateway's disk alone; OwnFault for whatever it throws.
template <class Work>
auto on_own_disk(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& error) {
    throw OwnFault(Code::failed, error.what());
  }
}

}  // namespace navtalk::server
