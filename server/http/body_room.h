// What the bodies of a server's long requests may have of memory together, and each of those who send them. Of the I/O
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace navtalk::server {

class BodyRoom : public std::enable_shared_from_this<BodyRoom> {
 public:
  explicit BodyRoom(std::uint64_t bytes) : total_(bytes), free_(bytes) {}

  // Whether the owner's bodies may have so much more: half of the room together, and a quarter while less than half of the
  // room is free.
  bool allows(const std::string& owner, std::uint64_t bytes) const {
    const std::uint64_t most = free_ >= total_ / 2 ? total_ / 2 : total_ / 4;
    const auto taken = taken_.find(owner);
    return bytes + (taken == taken_.end() ? 0 : taken->second) <= most;
  }
  // Taken until the result ends; nullptr: there is not so much, or the owner may not have it.
  std::shared_ptr<void> take(const std::string& owner, std::uint64_t bytes) {
    if (bytes > free_ || !allows(owner, bytes)) return nullptr;
    free_ -= bytes;
    taken_[owner] += bytes;
    const auto give_back = [room = shared_from_this(), owner, bytes](void*) {
      room->free_ += bytes;
      const auto taken = room->taken_.find(owner);
      if ((taken->second -= bytes) == 0) room->taken_.erase(taken);
    };
    return {this, give_back};
  }

 private:
  const std::uint64_t total_;
  std::uint64_t free_;
  std::map<std::string, std::uint64_t> taken_{};  // by owner
};

}  // namespace navtalk::server
