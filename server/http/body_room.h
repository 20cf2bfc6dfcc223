// What the bodies of a server's long requests may have of memory together. Of the I/O thread.
#pragma once

#include <cstdint>
#include <memory>

namespace navtalk::server {

class BodyRoom : public std::enable_shared_from_this<BodyRoom> {
 public:
  explicit BodyRoom(std::uint64_t bytes) : free_(bytes) {}

  // Taken until the result ends; nullptr: there is not so much.
  std::shared_ptr<void> take(std::uint64_t bytes) {
    if (bytes > free_) return nullptr;
    free_ -= bytes;
    const auto give_back = [room = shared_from_this(), bytes](void*) { room->free_ += bytes; };
    return {this, give_back};
  }

 private:
  std::uint64_t free_;
};

}  // namespace navtalk::server
