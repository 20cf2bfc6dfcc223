// The avatars that a worker has loaded, and which of them it may drop: those that nobody holds, the one
// that was asked for longest ago first, as far as they exceed a bound. Pure; one thread.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "server/worker/engine.h"

namespace navtalk::server {

// Of avatars that nobody holds. The one that was asked for last stays, however large it is: it may
// have been loaded ahead of its session.
struct AvatarBound {
  std::size_t count = 32;
  std::uint64_t bytes = 1ULL << 30;
};

// Whoever has it holds the avatar: it stays loaded.
using HeldAvatar = std::shared_ptr<const AvatarSize>;

class LoadedAvatars {
 public:
  explicit LoadedAvatars(AvatarBound bound) : bound_(bound) {}

  // nullptr: it is not loaded.
  HeldAvatar find(const std::string& id);
  // One that the engine has loaded, perhaps for several who asked at once.
  HeldAvatar add(const std::string& id, const AvatarSize& size);
  // Takes out what exceeds the bound; their ids.
  std::vector<std::string> take_surplus();

  std::vector<std::string> ids() const;  // sorted
  std::size_t count() const { return avatars_.size(); }

 private:
  struct Entry {
    std::string id;
    HeldAvatar held;
  };
  const AvatarBound bound_;
  std::list<Entry> avatars_;  // the one that was asked for last at the front
};

}  // namespace navtalk::server
