// Why a run ends before its result: users want its slot, the slot or the job's lease is lost, or somebody stops it.
// What may take long is waited for here, so that it never keeps the slot. Of the I/O thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "server/gateway/session/slot_claim.h"
#include "server/http/blocking_threads.h"
#include "server/http/signal.h"

namespace navtalk::server {

class RunLeave {
 public:
  using Clock = Signal::Clock;

  // Both outlive it. `changed` is the claim's signal, and wakes whoever waits for the run.
  RunLeave(const SlotClaim& claim, Signal& changed) : claim_(claim), changed_(changed) {}
  RunLeave(const RunLeave&) = delete;
  RunLeave& operator=(const RunLeave&) = delete;

  // The slot is wanted: the job is to end behind its next segment, or then.
  void yield_by(Clock::time_point time);
  // At once: `why` is for the job's history.
  void stop(std::string why);
  void lose_lease();
  // While `places` is above zero, the run may end behind a segment for another tenant's job. nullptr: it stays. Runs of
  // which some are to end share the places.
  void may_give_way(std::shared_ptr<std::size_t> places) { places_ = std::move(places); }
  // Takes a place; false: there is none.
  bool give_way();
  bool gave_way() const { return gave_way_; }

  bool lost() const { return lost_; }  // the lease
  bool stopped() const { return !stop_.empty(); }
  bool slot_lost() const { return claim_.lease_lost(); }
  bool yields() const { return yield_by_.has_value(); }
  // It may wait for nothing any more.
  bool due() const;
  // For the job's history; of the lease nothing.
  std::string why() const;

  // Returns at `until`, when it may be due, and when something else changed.
  boost::asio::awaitable<void> wait(Clock::time_point until = Clock::time_point::max());
  // Has `work` called on one of the threads, and returns when that is over, with its exception. False: the run
  // was due before. Then the stop token is requested, and what `work` refers to is not the run's.
  using Work = std::function<void(const std::stop_token&)>;
  boost::asio::awaitable<bool> call(BlockingThreads& threads, const Work& work);

 private:
  const SlotClaim& claim_;
  Signal& changed_;
  std::optional<Clock::time_point> yield_by_{};
  std::shared_ptr<std::size_t> places_{};
  std::string stop_{};
  bool lost_ = false, gave_way_ = false;
};

}  // namespace navtalk::server
