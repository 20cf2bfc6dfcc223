// What this gateway's disk or store did not take: neither a job nor its worker is to blame.
#pragma once

#include <cerrno>
#include <exception>
#include <string>
#include <system_error>

#include "core/base/error.h"

namespace navtalk::server {

class OwnFault : public Error {
 public:
  using Error::Error;
};

// The store does not answer, or takes nothing.
class StoreFault : public OwnFault {
 public:
  using OwnFault::OwnFault;
};

// A file of the job is gone, damaged, may not be read, or ends too early. Another gateway may have one that can.
class UnreadableFile : public OwnFault {
 public:
  using OwnFault::OwnFault;
};

// For a file that could not be opened or read with this errno; 0: it ended too early. UnreadableFile where the file
// itself is the reason, otherwise OwnFault: the disk, or the table of open files, may be well again soon.
[[noreturn]] inline void throw_unread(const std::string& file, int error) {
  const std::string what = file + " cannot be read";
  if (error == 0 || error == ENOENT || error == EACCES) throw UnreadableFile(Code::failed, what);
  throw OwnFault(Code::failed, what + ": " + std::generic_category().message(error));
}

// Calls `work`, which is of this gateway's disk alone; OwnFault for whatever it throws.
template <class Work>
auto on_own_disk(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const OwnFault&) {
    throw;
  } catch (const std::exception& error) {
    throw OwnFault(Code::failed, error.what());
  }
}

}  // namespace navtalk::server
