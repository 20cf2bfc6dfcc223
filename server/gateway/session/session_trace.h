// The way of one session as spans (core/trace/), told when it is over:
//
//   session         from connecting to the end
//     allocation    from connecting to the slot, in the queue or not
//     connect       from the slot to the worker's session.ready
//     first picture from there to the first picture that went to the client
//     new worker    from the loss of a worker to the session.ready of the next one, each time
//
// Of the I/O thread.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/trace_exporter.h"
#include "scheduler/pool/session.h"

namespace navtalk::server {

class SessionTrace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `exporter`: nullptr: nothing is told.
  SessionTrace(std::shared_ptr<TraceExporter> exporter, Time arrived);

  // The first worker is ready; `slot_at`: when the pool was asked for its slot.
  void ready(const Lease& lease, Time slot_at, Time now);
  void first_picture(Time at);
  void lost_worker(Time now);
  void new_worker(const Lease& lease, Time now);
  // `session`: its name at the gateway. Nothing can be added any more. A session that never got a worker
  // tells how long it waited.
  void over(const std::string& session, const std::string& tenant, Time now);

 private:
  Span span(const char* name, Time begin, Time end) const;
  void add(const char* name, Time begin, Time end, const Lease& lease);
  std::chrono::system_clock::time_point wall(Time at) const;

  std::shared_ptr<TraceExporter> exporter_;
  // Both at one moment: what is told are times of day.
  Time arrived_{};
  std::chrono::system_clock::time_point arrived_wall_{};
  std::string trace_{}, root_{};
  std::vector<Span> spans_{};
  std::optional<Time> ready_{}, lost_{};
  int workers_ = 0;
};

}  // namespace navtalk::server
