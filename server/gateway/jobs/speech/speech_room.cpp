#include "server/gateway/jobs/speech/speech_room.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace navtalk::server {

struct SpeechRoom::Recording {
  const TenantId tenant;
  std::string speech{};
  bool grows = true, given_up = false;
};

struct SpeechRoom::State {
  explicit State(std::uint64_t bytes) : most(bytes) {}

  void forget(Recording* recording) {
    const std::lock_guard lock(mutex);
    held -= recording->speech.size();
    recordings.erase(recording);
  }
  void give_up_largest();

  const std::uint64_t most;
  std::mutex mutex{};
  std::uint64_t held = 0;
  std::set<Recording*> recordings{};
};

// Some recording grows.
void SpeechRoom::State::give_up_largest() {
  std::map<TenantId, std::uint64_t> by_tenant;
  for (const Recording* one : recordings) by_tenant[one->tenant] += one->speech.size();
  const auto size = [&](const Recording* one) {
    return one->grows ? std::pair(by_tenant[one->tenant], one->speech.size()) : std::pair(0UL, 0UL);
  };
  Recording& largest = **std::ranges::max_element(recordings, {}, size);
  largest.grows = false;
  largest.given_up = true;
  held -= largest.speech.size();
  std::string().swap(largest.speech);
}

SpeechRoom::SpeechRoom(std::uint64_t bytes) : state_(std::make_shared<State>(bytes)) {}

std::shared_ptr<SpeechRoom::Recording> SpeechRoom::begin(const TenantId& tenant) {
  const auto forget = [state = state_](Recording* recording) {
    state->forget(recording);
    delete recording;
  };
  std::shared_ptr<Recording> recording(new Recording{.tenant = tenant}, forget);
  const std::lock_guard lock(state_->mutex);
  state_->recordings.insert(recording.get());
  return recording;
}

bool SpeechRoom::append(Recording& recording, std::string_view bytes) {
  const std::lock_guard lock(state_->mutex);
  if (recording.given_up) return false;
  recording.speech += bytes;
  state_->held += bytes.size();
  while (state_->held > state_->most && !recording.given_up) state_->give_up_largest();
  return !recording.given_up;
}

FetchedSpeech SpeechRoom::finish(const std::shared_ptr<Recording>& recording) {
  const std::lock_guard lock(state_->mutex);
  recording->grows = false;
  if (recording->given_up) return nullptr;
  return {recording, &recording->speech};
}

std::uint64_t SpeechRoom::bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->held;
}

}  // namespace navtalk::server
