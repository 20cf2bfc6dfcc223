#include "server/worker/live/rate_control.h"

#include <algorithm>
#include <numeric>

namespace navtalk::server {
namespace {

using namespace std::chrono_literals;

constexpr auto k_most_waiting = 40ms, k_most_delay = 160ms;
constexpr std::size_t k_remembered = 10;  // pictures
constexpr int k_most_faults = 2;          // of them
constexpr auto k_settled = 500ms;         // after a change: pictures of the old rate are over
constexpr auto k_proof = 10s;             // a rate that lasts so long was the right one
constexpr std::chrono::milliseconds k_patience = 5s, k_most_patience = 60s;

bool late(const PictureDelay& delay) {
  return delay.whole - delay.working > k_most_waiting || delay.whole > k_most_delay;
}

}  // namespace

bool RateControl::note(std::optional<PictureDelay> delay, Clock::time_point now) {
  if (changed_ && now - *changed_ < k_settled) return false;
  const int fault = !delay ? 2 : late(*delay) ? 1 : 0;
  faults_.push_back(fault);
  if (faults_.size() > k_remembered) faults_.pop_front();
  if (fault > 0 || !well_since_) well_since_ = now;
  if (raised_ && now - *raised_ >= k_proof) {
    raised_.reset();
    patience_ = k_patience;
  }
  if (std::accumulate(faults_.begin(), faults_.end(), 0) > k_most_faults) {
    if (step_ + 1 == k_live_rates.size()) return false;
    if (raised_) patience_ = std::min(2 * patience_, k_most_patience);
    raised_.reset();
    change_to(step_ + 1, now);
    return true;
  }
  if (step_ == 0 || now - *well_since_ < patience_) return false;
  raised_ = now;
  change_to(step_ - 1, now);
  return true;
}

void RateControl::change_to(std::size_t step, Clock::time_point now) {
  step_ = step;
  faults_.clear();
  well_since_ = changed_ = now;
}

}  // namespace navtalk::server
