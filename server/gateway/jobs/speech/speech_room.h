// The bytes of fetched speech that all tenants together may have in memory. Where they do not suffice, a recording that still
// grows is given up: of the tenant that holds the most, the largest one. So a short recording never waits for room that
// others hold. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "scheduler/pool/gpu.h"

namespace navtalk::server {

// A whole recording. Its bytes count until nobody holds it; it may outlive the room.
using FetchedSpeech = std::shared_ptr<const std::string>;

class SpeechRoom {
 public:
  struct Recording;  // whose bytes count until nobody holds it
  explicit SpeechRoom(std::uint64_t bytes);

  std::shared_ptr<Recording> begin(const TenantId& tenant);
  // False when it is given up, now or since its last piece: its bytes are gone.
  bool append(Recording& recording, std::string_view bytes);
  // It grows no more. nullptr: it was given up.
  FetchedSpeech finish(const std::shared_ptr<Recording>& recording);
  // That are held now.
  std::uint64_t bytes() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace navtalk::server
