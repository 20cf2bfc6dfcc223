// Content of the cache as the body of an answer, also while it is still being downloaded. One connection's;
// read() blocks on the disk, one call at a time.
#pragma once

#include <cstdint>
#include <string>

#include "core/artifacts/cache.h"
#include "core/base/unique_fd.h"

namespace navtalk::server {

class ContentBody {
 public:
  // The bytes from `first` to before `end`.
  ContentBody(const ArtifactCache& cache, ArtifactFile file, std::uint64_t first, std::uint64_t end)
      : cache_(cache), file_(std::move(file)), end_(end), at_(first) {}

  // The next piece; "" when there is none yet, or no more.
  std::string read();
  bool at_end() const { return at_ == end_; }
  // What was read already is not what is there now: a download was begun again.
  bool spoilt() const { return spoilt_; }

 private:
  std::uint64_t open();
  std::uint64_t size() const;

  const ArtifactCache& cache_;
  const ArtifactFile file_;
  UniqueFd fd_{};
  const std::uint64_t end_;
  std::uint64_t at_;
  bool sent_ = false, spoilt_ = false;
};

}  // namespace navtalk::server
