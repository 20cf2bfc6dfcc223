// Ranges that came ahead of a partial blob: each is a file beside it, partial/SHA256.FIRST, that grows as the
// blob does. Whoever holds the blob holds them; what a killed process left is found by the next one. The
// files may be removed while they are open (eviction.h). One owner, one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "core/artifacts/partial_blob.h"
#include "core/base/unique_fd.h"

namespace navtalk {

class AheadFiles {
 public:
  struct Kept {
    std::uint64_t first = 0, bytes = 0;
  };

  // Finds what there is ahead of the blob, which outlives this; what is of no use is removed.
  explicit AheadFiles(PartialBlob& blob);

  std::vector<Kept> kept() const;  // in their order, none overlapping
  // The next bytes of the range that begins there. Error{failed} when the disk is full.
  void append(std::uint64_t first, std::string_view bytes);
  // Its bytes go to the end of the blob, and the file goes. Error{failed} when the disk is full.
  void move_to_blob(std::uint64_t first);

 private:
  struct File {
    UniqueFd fd{};
    std::uint64_t bytes = 0;
  };
  std::filesystem::path place(std::uint64_t first) const;
  [[noreturn]] void fail(std::uint64_t first, int reason) const;

  PartialBlob& blob_;
  std::map<std::uint64_t, File> files_{};
};

// Of a blob that is complete, or begun again.
void remove_ahead_files(const PartialBlob& blob);

}  // namespace navtalk
