#include "server/gateway/jobs/job_events.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>
#include <variant>

#include "core/text/rfc3339.h"
#include "server/gateway/jobs/faults/on_store.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto k_look_every = 1s, k_comment_every = 15s;
constexpr double k_least_progress = 0.01;

std::string event_text(std::string_view name, const nlohmann::ordered_json& data) {
  return "event: " + std::string(name) +
         "\ndata: " + data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
         "\n\n";
}

std::string event_text(const JobHistory& entry) {
  return "id: " + std::to_string(entry.number) + "\n" +
         event_text(name(entry.event), event_json(entry));
}

}  // namespace

nlohmann::ordered_json event_json(const JobHistory& entry) {
  const auto at = std::chrono::time_point_cast<std::chrono::system_clock::duration>(entry.at);
  return {{"at", rfc3339(at)},
          {"event", name(entry.event)},
          {"state", name(entry.to)},
          {"why", entry.why}};
}

asio::awaitable<std::string> JobEvents::next() {
  asio::steady_timer pause(co_await asio::this_coro::executor);
  const auto begun = std::chrono::steady_clock::now();
  while (!over_ && !parts_.dispatcher.draining()) {
    if (!co_await may_listen()) break;
    std::string text;
    try {
      text = co_await news();
    } catch (const StoreFault&) {
      // It comes back, and the stream must not end as if the job were over.
    }
    if (!text.empty()) co_return text;
    if (std::chrono::steady_clock::now() - begun >= k_comment_every) co_return ":\n\n";
    pause.expires_after(k_look_every);
    co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  co_return "";
}

// A store that is away takes no listener's stream.
asio::awaitable<bool> JobEvents::may_listen() {
  const auto who = co_await parts_.access.principal_of(parts_.asked);
  const auto* refusal = std::get_if<Response>(&who);
  co_return refusal == nullptr || refusal->status != 401;
}

asio::awaitable<std::string> JobEvents::news() {
  auto look = [this] { return parts_.store.history(job_, after_); };
  const std::vector<JobHistory> history = co_await parts_.threads.run(on_store(look));
  std::string text;
  for (const JobHistory& entry : history) {
    text += event_text(entry);
    after_ = entry.number;
    over_ = is_final(entry.to);
  }
  const std::optional<double> progress = parts_.dispatcher.progress(job_);
  if (progress && !over_ && *progress >= progress_ + k_least_progress) {
    progress_ = *progress;
    text += event_text("progress", {{"progress", *progress}});
  }
  co_return text;
}

}  // namespace navtalk::server
