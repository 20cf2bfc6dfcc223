#include "server/worker/device/device_room.h"

#include <algorithm>
#include <utility>

#include "core/log/log.h"

namespace navtalk::server {

DeviceRoom::Place::Place(DeviceRoom& room, std::string avatar)
    : room_(room), avatar_(std::move(avatar)) {
  if (const auto frames = room_.find(avatar_); frames != room_.frames_.end()) ++frames->sessions;
}

DeviceRoom::Place::~Place() {
  if (const auto frames = room_.find(avatar_); frames != room_.frames_.end()) --frames->sessions;
}

std::list<DeviceRoom::Frames>::iterator DeviceRoom::find(const std::string& avatar) {
  return std::ranges::find(frames_, avatar, &Frames::avatar);
}

std::unique_ptr<DeviceRoom::Place> DeviceRoom::admit(const std::string& avatar,
                                                     const AvatarSize& size, int shown_width) {
  const std::uint64_t pictures = size.pictures_at(shown_width);
  if (!budget_ || reserve_frames(avatar, size.device_frames)) {
    auto place = std::make_unique<Place>(*this, avatar);  // from here on its frames are used
    if (!budget_) return place;
    if (auto own = reserve(MemoryUser::sessions, pictures)) {
      place->have(std::move(*own));
      return place;
    }
  }
  const MemoryLedger ledger = budget_->memory->ledger();
  log::warn("a session is refused for lack of the device's memory",
            {{"avatar", avatar},
             {"needs_mib", std::to_string((pictures + size.device_frames) >> 20)},
             {"committed_mib", std::to_string(ledger.committed() >> 20)},
             {"limit_mib", std::to_string(ledger.limit() >> 20)}});
  return nullptr;
}

std::optional<MemoryReservation> DeviceRoom::admit_job() {
  if (!budget_) return MemoryReservation();
  return reserve(MemoryUser::jobs, of_job());
}

void DeviceRoom::drop_frames() {
  while (drop_unused()) continue;
}

bool DeviceRoom::full() const {
  if (!budget_) return false;
  const MemoryLedger ledger = budget_->memory->ledger();
  const bool unused = std::ranges::find(frames_, 0, &Frames::sessions) != frames_.end();
  return ledger.measured.total > 0 && !unused && ledger.committed() > ledger.limit();
}

// As many of its frames as the frames of all avatars may take; those that find no room are loaded when they are shown.
bool DeviceRoom::reserve_frames(const std::string& avatar, std::uint64_t bytes) {
  if (const auto known = find(avatar); known != frames_.end()) {
    frames_.splice(frames_.end(), frames_, known);
    return true;
  }
  const std::uint64_t limit = budget_->frames_limit();
  bytes = std::min(bytes, limit);
  while (frames_bytes() + bytes > limit && drop_unused()) continue;
  bytes = std::min(bytes, limit - std::min(limit, frames_bytes()));
  std::optional<MemoryReservation> reserved = reserve(MemoryUser::avatars, bytes);
  if (!reserved) return false;
  frames_.push_back({.avatar = avatar, .bytes = std::move(*reserved)});
  tell_frames();
  return true;
}

std::optional<MemoryReservation> DeviceRoom::reserve(MemoryUser user, std::uint64_t bytes) {
  for (;;) {
    std::optional<MemoryReservation> reserved = budget_->memory->reserve(user, bytes);
    if (reserved || !drop_unused()) return reserved;
  }
}

bool DeviceRoom::drop_unused() {
  const auto unused = std::ranges::find(frames_, 0, &Frames::sessions);
  if (unused == frames_.end()) return false;
  frames_.erase(unused);
  tell_frames();
  return true;
}

std::uint64_t DeviceRoom::frames_bytes() const {
  std::uint64_t all = 0;
  for (const Frames& one : frames_) all += one.bytes.bytes();
  return all;
}

void DeviceRoom::tell_frames() const { budget_->keep_frames(frames_bytes()); }

}  // namespace navtalk::server
