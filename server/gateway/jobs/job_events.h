// The events of one job as they come, for EventSource (text/event-stream). Of the I/O thread, with the
// store's calls on threads of their own.
//
//   id: NUMBER             of the job's history; Last-Event-ID goes on behind it
//   event: claim           the name in the history, or "progress", which has no id
//   data: {"at":...,"event":"claim","state":"running","why":...}
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "scheduler/jobs/job_store.h"
#include "server/gateway/access/access.h"
#include "server/gateway/jobs/job_dispatcher.h"
#include "server/http/blocking_threads.h"
#include "server/http/message.h"

namespace navtalk::server {

// What of an entry of a job's history its tenant is told.
nlohmann::ordered_json event_json(const JobHistory& entry);

class JobEvents {
 public:
  // What it refers to outlives it.
  struct Parts {
    JobStore& store;
    const JobDispatcher& dispatcher;
    BlockingThreads& threads;
    Access& access;
    Request asked{};  // whose key must stay good
  };
  // `after`: the number of the last event that the client has.
  JobEvents(Parts parts, JobId job, std::int64_t after)
      : parts_(std::move(parts)), job_(std::move(job)), after_(after) {}

  // What is new, after a wait for it, also for a store that is away; a comment now and then, so that both ends notice a
  // lost connection. "": the job is over, the key counts no more, or the gateway stops.
  boost::asio::awaitable<std::string> next();
  // What is known now, without a wait.
  boost::asio::awaitable<std::string> rest() { return news(); }

 private:
  boost::asio::awaitable<std::string> news();
  boost::asio::awaitable<bool> may_listen();

  const Parts parts_;
  const JobId job_;
  std::int64_t after_;
  double progress_ = -1;
  bool over_ = false;
};

}  // namespace navtalk::server
