#include "core/trace/trace_exporter.h"

#include <algorithm>
#include <random>

#include "core/base/error.h"
#include "core/base/sleep.h"
#include "core/log/log.h"
#include "core/net/retry_after.h"
#include "core/net/url.h"
#include "core/text/printable.h"

namespace navtalk {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds k_most_wait{30'000};
constexpr std::size_t k_most_answer = 64 << 10;

milliseconds wait_after(milliseconds first, int failures) {
  milliseconds wait = first;
  for (int i = 1; i < failures && wait < k_most_wait; ++i) wait *= 2;
  return std::min(wait, k_most_wait);
}

}  // namespace

TraceExporter::TraceExporter(TraceOptions options) : options_(std::move(options)) {
  try {
    parse_http_url(options_.url);
  } catch (const Error& error) {
    throw Error(error.code(),
                "the collector of traces '" + printable(options_.url) + "': " + error.message());
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

TraceExporter::~TraceExporter() {
  thread_.request_stop();
  thread_.join();
  // What waited when the thread ended gets one try.
  for (std::vector<Span> spans = waiting_now(); !spans.empty(); spans = waiting_now()) {
    deliver_at_last(spans);
  }
}

// Errors end no process: what cannot be sent is lost.
void TraceExporter::deliver_at_last(const std::vector<Span>& spans) {
  try {
    if (try_once(spans, options_.tries, options_.last_words, {}))
      count(0, spans.size(), "the process ends");
  } catch (const std::exception& error) {
    count(0, spans.size(), error.what());
  }
}

bool TraceExporter::takes_next() const {
  if (options_.share >= 1) return true;
  thread_local std::minstd_rand random(std::random_device{}());
  return std::uniform_real_distribution<double>(0, 1)(random) < options_.share;
}

void TraceExporter::add(std::vector<Span> spans) {
  std::size_t lost = 0;
  {
    const std::lock_guard lock(mutex_);
    for (Span& span : spans) {
      if (waiting_.size() < options_.most_waiting) {
        waiting_.push_back(std::move(span));
      } else {
        ++lost;
      }
    }
    counts_.lost += lost;
  }
  more_.notify_one();
}

TraceExporter::Counts TraceExporter::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::vector<Span> TraceExporter::waiting_now() {
  const std::lock_guard lock(mutex_);
  const auto count = static_cast<std::ptrdiff_t>(std::min(waiting_.size(), options_.batch));
  std::vector<Span> spans(std::make_move_iterator(waiting_.begin()),
                          std::make_move_iterator(waiting_.begin() + count));
  waiting_.erase(waiting_.begin(), waiting_.begin() + count);
  return spans;
}

// Empty: a stop was requested.
std::vector<Span> TraceExporter::next_batch(const std::stop_token& stop) {
  {
    std::unique_lock lock(mutex_);
    if (!more_.wait(lock, stop, [this] { return !waiting_.empty(); })) return {};
    more_.wait_for(lock, stop, options_.collect,
                   [this] { return waiting_.size() >= options_.batch; });
  }
  if (stop.stop_requested()) return {};
  return waiting_now();
}

void TraceExporter::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const std::vector<Span> spans = next_batch(stop);
    if (spans.empty()) continue;
    try {
      deliver(spans, stop);
    } catch (const std::exception& error) {
      count(0, spans.size(), error.what());
    }
  }
}

void TraceExporter::deliver(const std::vector<Span>& spans, const std::stop_token& stop) {
  for (int failures = 1;; ++failures) {
    const auto wait = try_once(spans, failures, options_.timeout, stop);
    if (!wait) return;
    if (sleep_for(*wait, stop)) continue;
    if (try_once(spans, options_.tries, options_.last_words, {}))
      count(0, spans.size(), "the process ends");
    return;
  }
}

std::optional<milliseconds> TraceExporter::try_once(const std::vector<Span>& spans, int failures,
                                                    milliseconds timeout,
                                                    const std::stop_token& stop) {
  HttpRequest request{.method = "POST",
                      .url = options_.url,
                      .headers = {{"Content-Type", "application/json"}},
                      .body = otlp_request(options_.source, spans),
                      .connect_timeout = timeout,
                      .timeout = timeout,
                      .max_answer = k_most_answer};
  if (!options_.authorization.empty())
    request.headers.emplace_back("Authorization", options_.authorization);
  const HttpResult result = http_.send(request, stop);
  milliseconds wait = wait_after(options_.first_wait, failures);
  std::string why;
  bool again = true;
  if (const auto* fault = std::get_if<HttpFault>(&result)) {
    // Asked once more as the last words.
    if (fault->kind == HttpFault::Kind::stopped) return milliseconds(0);
    why = fault->message;
  } else {
    const auto& answer = std::get<HttpAnswer>(result);
    if (answer.status >= 200 && answer.status < 300) {
      const PartialSuccess partial = parse_otlp_answer(answer.body);
      const auto rejected = static_cast<std::size_t>(
          std::clamp<std::int64_t>(partial.rejected, 0, static_cast<std::int64_t>(spans.size())));
      count(spans.size() - rejected, rejected, partial.message);
      return std::nullopt;
    }
    why = "HTTP " + std::to_string(answer.status);
    again = otlp_may_retry(answer.status);
    if (const auto asked = retry_after(answer))
      wait = std::max(wait, std::min<milliseconds>(k_most_wait, *asked));
  }
  if (again && failures < options_.tries) return wait;
  count(0, spans.size(), why);
  return std::nullopt;
}

void TraceExporter::count(std::size_t sent, std::size_t lost, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    counts_.sent += sent;
    counts_.lost += lost;
  }
  if (lost > 0 && !complained_)
    log::warn("traces are lost", {{"spans", std::to_string(lost)}, {"why", why}});
  complained_ = lost > 0;
}

}  // namespace navtalk
