#include "server/gateway/worker_metrics.h"

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/text/number.h"
#include "scheduler/health/worker_protocol.h"
#include "server/http/signal.h"

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

constexpr std::chrono::milliseconds k_answer_within{2'000};
constexpr std::size_t k_longest_worker_page = 256 << 10;  // bytes
constexpr std::size_t k_most_label_values = 16,
                      k_longest_label_value = 16;  // of a label, for each worker

struct Known {
  const char *name, *help, *label;  // label "": it has none
  bool counts;
};

// As a worker names them (server/worker/worker_api.cpp); a page of a worker that started anew counts from 0.
constexpr std::array k_live_metrics = {
    Known{"navtalk_worker_stage_seconds_total", "Time of pictures in each stage, in seconds",
          "stage", true},
    Known{"navtalk_worker_face_requests_total", "Faces that sessions asked for, by outcome",
          "outcome", true},
    Known{"navtalk_worker_live_sessions", "Live sessions now, by their pictures a second", "fps",
          false},
    Known{"navtalk_worker_rate_changes_total", "Changes of sessions' pictures a second", "", true},
    Known{"navtalk_worker_pictures_total", "Pictures sent to clients", "", true},
    Known{"navtalk_worker_generated_pictures_total", "Pictures whose lips the nets made", "", true},
    Known{"navtalk_worker_late_pictures_total", "Pictures left out because their time was over", "",
          true},
    Known{"navtalk_worker_dropped_pictures_total",
          "Pictures dropped because the client read too slowly", "", true},
    Known{"navtalk_worker_overflows_total", "Inputs dropped because too much sound was waiting", "",
          true},
    Known{"navtalk_worker_left_out_seconds_total",
          "Sound left out because clients' clocks are faster, in seconds", "", true},
    Known{"navtalk_worker_sound_ahead_seconds",
          "How far the sound sent last was ahead of the picture sent last, in time of presentation",
          "", false},
    Known{"navtalk_worker_heartbeat_age_seconds",
          "Time since the last heartbeat of the work loop or the inference engine, in seconds", "",
          false},
};

struct Sample {
  std::string_view name, label, value;  // label "": it has none
  double number = 0;
};

// NAME NUMBER or NAME{LABEL="VALUE"} NUMBER.
std::optional<Sample> read_sample(std::string_view line) {
  const std::size_t blank = line.rfind(' ');
  if (blank == line.npos) return std::nullopt;
  const auto number = parse_number<double>(line.substr(blank + 1));
  if (!number || !std::isfinite(*number)) return std::nullopt;
  Sample sample{.name = line.substr(0, blank), .number = *number};
  const std::size_t brace = sample.name.find('{');
  if (brace == line.npos) return sample;
  std::string_view inner = sample.name.substr(brace + 1);
  sample.name = sample.name.substr(0, brace);
  const std::size_t equals = inner.find("=\"");
  if (equals == inner.npos || !inner.ends_with("\"}")) return std::nullopt;
  sample.label = inner.substr(0, equals);
  inner.remove_prefix(equals + 2);
  sample.value = inner.substr(0, inner.size() - 2);
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  if (sample.value.empty() || sample.value.size() > k_longest_label_value) return std::nullopt;
  return std::ranges::all_of(sample.value, plain) ? std::optional(sample) : std::nullopt;
}

// What the answers of one scrape are told to; gone when nobody waits for them any more.
struct Answers {
  explicit Answers(const asio::any_io_executor& executor) : came(executor) {}
  Signal came;
  std::vector<std::pair<std::string, std::string>> pages{};  // by GPU
  std::size_t open = 0;
};

HttpRequest page_request(const Gpu& gpu, const WorkerTokens& tokens) {
  std::string url = gpu.url;
  if (url.ends_with('/')) url.pop_back();
  return {.url = url + "/metrics",
          .headers = worker_request_headers(tokens.of(gpu)),
          .connect_timeout = k_answer_within,
          .timeout = k_answer_within,
          .max_answer = k_longest_worker_page};
}

}  // namespace

void add_worker_page(MetricsPage& page, const std::string& gpu, std::string_view worker_page) {
  std::map<std::string_view, std::set<std::string>> values;
  while (!worker_page.empty()) {
    const std::string_view line = worker_page.substr(0, worker_page.find('\n'));
    worker_page.remove_prefix(std::min(worker_page.size(), line.size() + 1));
    const auto sample = read_sample(line);
    if (!sample) continue;
    const auto known = std::ranges::find_if(k_live_metrics, [&](const Known& one) {
      return sample->name == one.name && sample->label == one.label;
    });
    if (known == k_live_metrics.end() || (known->counts && sample->number < 0)) continue;
    std::set<std::string>& seen = values[known->name];
    if (seen.size() >= k_most_label_values || !seen.insert(std::string(sample->value)).second)
      continue;
    MetricLabels labels = {{"gpu", gpu}};
    if (!sample->label.empty()) labels[known->label] = sample->value;
    if (known->counts) {
      page.counter(known->name, known->help, sample->number, labels);
    } else {
      page.gauge(known->name, known->help, sample->number, labels);
    }
  }
}

WorkerMetrics::WorkerMetrics(PoolStore& store, BlockingThreads& threads, WorkerTokens tokens,
                             std::string host)
    : store_(store), threads_(threads), tokens_(std::move(tokens)), host_(std::move(host)) {}

asio::awaitable<void> WorkerMetrics::add_to(MetricsPage& page) {
  const auto executor = co_await asio::this_coro::executor;
  const PoolView view = co_await threads_.run([this] { return store_.view(); });
  const auto answers = std::make_shared<Answers>(executor);
  for (const Gpu& gpu : view.gpus) {
    if (!gpu.serving() || silent(gpu) || gpu.url.empty()) continue;
    // Its loopback address leads elsewhere here, and so would its token.
    if (gpu.source == Source::local && gpu.host != host_) continue;
    // On the client's thread.
    auto done = [executor, gpu = gpu.id.text,
                 waiting = std::weak_ptr(answers)](HttpResult result) mutable {
      asio::post(executor, [gpu = std::move(gpu), waiting = std::move(waiting),
                            result = std::move(result)]() mutable {
        const auto there = waiting.lock();
        if (!there) return;
        auto* const answer = std::get_if<HttpAnswer>(&result);
        if (answer != nullptr && answer->status == 200)
          there->pages.emplace_back(std::move(gpu), std::move(answer->body));
        --there->open;
        there->came.notify();
      });
    };
    ++answers->open;
    try {
      client_.send(page_request(gpu, tokens_), std::move(done));
    } catch (const Error&) {  // its URL may not be asked, which the prober tells
      --answers->open;
    }
  }
  const auto until = Signal::Clock::now() + k_answer_within;
  while (answers->open > 0 && Signal::Clock::now() < until) co_await answers->came.wait(until);
  for (const auto& [gpu, text] : answers->pages) add_worker_page(page, gpu, text);
}

}  // namespace navtalk::server
