#include "server/worker/loaded_avatars.h"

#include <algorithm>

namespace navtalk::server {

HeldAvatar LoadedAvatars::find(const std::string& id) {
  const auto found = std::find_if(avatars_.begin(), avatars_.end(),
                                  [&](const Entry& entry) { return entry.id == id; });
  if (found == avatars_.end()) return nullptr;
  avatars_.splice(avatars_.begin(), avatars_, found);
  return found->held;
}

HeldAvatar LoadedAvatars::add(const std::string& id, const AvatarSize& size) {
  if (HeldAvatar known = find(id)) return known;
  avatars_.push_front({id, std::make_shared<const AvatarSize>(size)});
  return avatars_.front().held;
}

std::vector<std::string> LoadedAvatars::take_surplus() {
  std::vector<std::string> surplus;
  std::size_t count = 0;
  std::uint64_t bytes = 0;
  for (auto next = avatars_.begin(); next != avatars_.end();) {
    const bool unused = next->held.use_count() == 1;
    if (unused) {
      ++count;
      bytes += next->held->memory;
    }
    if (unused && count > 1 && (count > bound_.count || bytes > bound_.bytes)) {
      surplus.push_back(next->id);
      next = avatars_.erase(next);
    } else {
      ++next;
    }
  }
  return surplus;
}

std::vector<std::string> LoadedAvatars::ids() const {
  std::vector<std::string> ids;
  for (const Entry& entry : avatars_) ids.push_back(entry.id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace navtalk::server
