#include "gpu/device/staging_ring.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>
#include <utility>

namespace navtalk {

StagingRing::StagingRing(std::size_t most, Allocate allocate)
    : most_(most), allocate_(std::move(allocate)) {}

// Memory must not go while the device may touch it. One that is lost touches nothing.
void StagingRing::end_use(const Block& block) {
  try {
    if (block.event_ && !block.event_->done()) block.event_->wait();
  } catch (const std::exception&) {
  }
}

StagingRing::State::~State() { std::ranges::for_each(idle, end_use); }

void StagingRing::give_back(State& state, Block& block, bool keep) {
  if (!keep) return end_use(block);
  const std::lock_guard lock(state.mutex);
  state.idle.push_back(std::move(block));
}

StagingRing::Block StagingRing::grown(Block block, std::size_t bytes) const {
  if (block.size_ >= bytes) return block;
  block = {};  // the smaller memory is free before the larger one is there
  block.memory_ = allocate_(bytes);
  block.size_ = bytes;
  return block;
}

std::shared_ptr<StagingRing::Block> StagingRing::take(std::size_t bytes) {
  std::optional<Block> block;
  bool keep = true, wait = false;
  {
    const std::lock_guard lock(state_->mutex);
    std::list<Block>& idle = state_->idle;
    const auto done = [](const Block& one) { return !one.event_ || one.event_->done(); };
    auto found = std::find_if(idle.begin(), idle.end(),
                              [&](const Block& one) { return one.size_ >= bytes && done(one); });
    if (found == idle.end()) found = std::find_if(idle.begin(), idle.end(), done);
    if (found == idle.end() && state_->made >= most_ && !idle.empty()) {
      found = idle.begin();
      wait = true;
    }
    if (found != idle.end()) {
      block = std::move(*found);
      idle.erase(found);
    } else {
      keep = state_->made < most_;
      if (keep) ++state_->made;
    }
  }
  try {
    if (wait) block->event_->wait();
    Block ready = grown(block ? std::move(*block) : Block{}, bytes);
    ready.event_ = nullptr;
    return {new Block(std::move(ready)), [state = state_, keep](Block* one) {
              give_back(*state, *one, keep);
              delete one;
            }};
  } catch (...) {
    // A block less is kept, whatever became of this one.
    const std::lock_guard lock(state_->mutex);
    if (keep) --state_->made;
    throw;
  }
}

}  // namespace navtalk
