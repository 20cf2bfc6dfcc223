#include "server/gateway/session/session_trace.h"

namespace navtalk::server {

SessionTrace::SessionTrace(std::shared_ptr<TraceExporter> exporter, Time arrived)
    : exporter_(std::move(exporter)) {
  if (exporter_ && !exporter_->takes_next()) exporter_.reset();
  if (!exporter_) return;
  arrived_ = arrived;
  const auto ago = std::chrono::steady_clock::now() - arrived;
  arrived_wall_ = std::chrono::system_clock::now() -
                  std::chrono::duration_cast<std::chrono::system_clock::duration>(ago);
  trace_ = new_trace_id();
  root_ = new_span_id();
}

std::chrono::system_clock::time_point SessionTrace::wall(Time at) const {
  return arrived_wall_ +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(at - arrived_);
}

Span SessionTrace::span(const char* name, Time begin, Time end) const {
  return {.trace = trace_,
          .id = new_span_id(),
          .parent = root_,
          .name = name,
          .begin = wall(begin),
          .end = wall(end)};
}

void SessionTrace::add(const char* name, Time begin, Time end, const Lease& lease) {
  Span one = span(name, begin, end);
  one.kind = Span::Kind::client;
  one.attributes = {{"navtalk.gpu", lease.gpu.text},
                    {"navtalk.provider", std::string(navtalk::name(lease.origin))}};
  spans_.push_back(std::move(one));
}

void SessionTrace::ready(const Lease& lease, Time slot_at, Time now) {
  if (!exporter_) return;
  spans_.push_back(span("allocation", arrived_, slot_at));
  add("connect", slot_at, now, lease);
  ready_ = now;
  workers_ = 1;
}

void SessionTrace::first_picture(Time at) {
  if (exporter_ && ready_) spans_.push_back(span("first picture", *ready_, at));
}

void SessionTrace::lost_worker(Time now) { lost_ = now; }

void SessionTrace::new_worker(const Lease& lease, Time now) {
  if (!exporter_ || !lost_) return;
  add("new worker", *lost_, now, lease);
  lost_.reset();
  ++workers_;
}

void SessionTrace::over(const std::string& session, const std::string& tenant, Time now) {
  if (!exporter_) return;
  Span whole = span("session", arrived_, now);
  whole.id = root_;
  whole.parent.clear();
  whole.kind = Span::Kind::server;
  whole.attributes = {{"navtalk.session", session},
                      {"navtalk.workers", static_cast<std::int64_t>(workers_)}};
  if (!tenant.empty()) whole.attributes.emplace_back("navtalk.tenant", tenant);
  if (!ready_) {
    spans_.push_back(span("allocation", arrived_, now));
    spans_.back().error = whole.error = "the session ended before it had a worker";
  }
  if (lost_) whole.error = "its worker was lost, and it got no other one";
  spans_.push_back(std::move(whole));
  exporter_->add(std::move(spans_));
  exporter_.reset();
}

}  // namespace navtalk::server
