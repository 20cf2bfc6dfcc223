// Sends spans to an OpenTelemetry collector, in the background and in batches. What cannot be sent is
// given up rather than waited for: traces hold up nothing, and are the first to go. Thread-safe.
//
//   add() ──► at most `most_waiting` spans ──► one request of at most `batch` spans ──► collector
//              full: the new ones are lost        429, 502, 503, 504, no connection: again, with
//                                                 growing waits; after `tries` they are lost
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/net/http_client.h"
#include "core/trace/otlp.h"

namespace navtalk {

struct TraceOptions {
  std::string url{};            // of the collector's traces: "http://127.0.0.1:4318/v1/traces"
  std::string authorization{};  // a header's value; empty: none
  TraceSource source{};
  double share = 1;  // of the sessions that are traced, 0 to 1
  std::size_t most_waiting = 4096, batch = 512;
  std::chrono::milliseconds collect{1'000};  // how long a batch waits for more
  std::chrono::milliseconds timeout{10'000};
  std::chrono::milliseconds first_wait{1'000};  // twice as long after each further failure
  std::chrono::milliseconds last_words{2'000};  // for what waits when it ends
  int tries = 5;
};

class TraceExporter {
 public:
  struct Counts {
    std::uint64_t sent = 0, lost = 0;  // spans
  };

  // Error{invalid} for an invalid URL.
  explicit TraceExporter(TraceOptions options);
  ~TraceExporter();
  TraceExporter(const TraceExporter&) = delete;
  TraceExporter& operator=(const TraceExporter&) = delete;

  // Is the next session traced? By chance, with the configured share.
  bool takes_next() const;
  // Never blocks.
  void add(std::vector<Span> spans);
  Counts counts() const;

 private:
  using Clock = std::chrono::steady_clock;

  void run(const std::stop_token& stop);
  std::vector<Span> next_batch(const std::stop_token& stop);
  std::vector<Span> waiting_now();
  void deliver(const std::vector<Span>& spans, const std::stop_token& stop);
  void deliver_at_last(const std::vector<Span>& spans);
  // nullopt: it is over, taken or not; else how long to wait before the next try.
  std::optional<std::chrono::milliseconds> try_once(const std::vector<Span>& spans, int failures,
                                                    std::chrono::milliseconds timeout,
                                                    const std::stop_token& stop);
  void count(std::size_t sent, std::size_t lost, const std::string& why);

  const TraceOptions options_;
  mutable std::mutex mutex_;  // of the next three
  std::condition_variable_any more_;
  std::deque<Span> waiting_;
  Counts counts_;
  bool complained_ = false;  // since the last request that was taken; of the thread
  HttpClient http_;
  std::jthread thread_;  // last: it uses the rest
};

}  // namespace navtalk
