#include "cmd/bench/serve/processes/stand_in_worker.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "cmd/bench/serve/stamp.h"
#include "core/base/guarded.h"
#include "core/base/id.h"
#include "scheduler/health/worker_health.h"
#include "scheduler/health/worker_protocol.h"
#include "server/http/http_server.h"
#include "server/http/io_loop.h"
#include "server/http/signal.h"
#include "server/protocol/control_frame.h"
#include "server/protocol/media_frame.h"
#include "server/protocol/start_frame.h"

namespace navtalk::cmd {
namespace asio = boost::asio;

namespace {

// The demo's avatar while it speaks, at the bit rate that a session has without asking: about 8 KB a
// picture, four times as much for the first one.
constexpr std::size_t k_picture_bytes = 8'000, k_key_bytes = 32'000;
constexpr std::size_t k_queue_frames = 64;
constexpr std::chrono::microseconds k_slot{40'000};  // of one picture
constexpr int k_slots_per_s = 25;

// The media of one session, a picture and its sound every 40 ms, until the socket is closed.
asio::awaitable<void> send_media(server::WebSocket& socket, int rate_hz, server::Signal& ended) {
  using server::MediaKind;
  const auto begin = server::Signal::Clock::now();
  const std::string key(k_key_bytes, '\0'), picture(k_picture_bytes, '\0');
  const std::string sound(static_cast<std::size_t>(rate_hz / k_slots_per_s) * 2, '\0');
  for (std::uint32_t number = 0; socket.open(); ++number) {
    const auto time = number * k_slot;
    const std::uint8_t flags = number == 0 ? server::media_flag::key : std::uint8_t{0};
    server::Frame heard =
        server::media_frame({.kind = MediaKind::pcm, .sequence = number, .time = time}, sound);
    server::Frame seen = server::media_frame(
        {.kind = MediaKind::video, .flags = flags, .sequence = number, .time = time},
        number == 0 ? key : picture);
    for (server::Frame* frame : {&heard, &seen}) {
      put_stamp(frame->bytes, 16);
      socket.offer(std::move(*frame));
    }
    const auto next = begin + time + k_slot;
    while (socket.open() && server::Signal::Clock::now() < next) co_await ended.wait(next);
  }
}

}  // namespace

struct StandInWorker::State {
  explicit State(int slot_count) : slots(slot_count), http(io, {}, {}, router()) {}

  server::Router router();
  asio::awaitable<std::optional<server::Response>> session(server::Upgrade& upgrade);
  asio::awaitable<void> serve(server::WebSocket& socket);
  std::string health() const;

  const int slots;
  const std::string instance = random_id();
  int sessions = 0;
  Guarded<std::vector<float>> delays_ms{};
  server::IoLoop io{};
  server::HttpServer http;
  server::CoroutineScope scope{io};
  std::jthread thread{};
};

server::Router StandInWorker::State::router() {
  using server::Request;
  using server::Response;
  server::Router routes;
  routes.header(k_protocol_header, std::to_string(k_worker_protocol));
  const auto answer = [](std::string body) -> asio::awaitable<Response> {
    co_return Response{.body = std::move(body)};
  };
  routes.on("GET", "/healthz", [this, answer](const Request&) { return answer(health()); });
  for (const char* path : {"/v1/pause", "/v1/wake", "/v1/drain", "/v1/prepare"}) {
    routes.on("POST", path, [answer](const Request&) { return answer("{}"); });
  }
  routes.on_socket("/v1/session",
                   [this](const Request&, server::Upgrade& upgrade) { return session(upgrade); });
  return routes;
}

std::string StandInWorker::State::health() const {
  const WorkerHealth own{
      .instance = instance,
      .state = sessions > 0 ? "running" : "idle",
      .device = "cpu",
      .slots = slots,
      .sessions = sessions,
      .avatars = {"ada"},
      .lease_epochs = std::vector<std::uint64_t>(static_cast<std::size_t>(slots))};
  return as_json(own).dump();
}

asio::awaitable<std::optional<server::Response>> StandInWorker::State::session(
    server::Upgrade& upgrade) {
  server::SocketLimits limits;
  limits.queue_frames = k_queue_frames;
  const std::unique_ptr<server::WebSocket> socket = co_await upgrade.accept(limits);
  if (!socket) co_return std::nullopt;
  ++sessions;
  co_await serve(*socket);
  --sessions;
  socket->close(server::CloseCode::normal, "");
  co_await socket->finished();
  co_return std::nullopt;
}

asio::awaitable<void> StandInWorker::State::serve(server::WebSocket& socket) {
  const std::optional<server::Frame> first = co_await socket.receive();
  if (!first || !first->text) co_return;
  const auto executor = co_await asio::this_coro::executor;
  const server::StartFrame start = server::parse_start(nlohmann::json::parse(first->bytes));
  const nlohmann::ordered_json ready = {
      {"type", server::frame_type::ready},
      {"session", 1},
      {"avatar", "ada"},
      {"video", {{"codec", "avc1.42C01F"}, {"width", 704}, {"height", 704}, {"fps", 25}}},
      {"audio", {{"codec", "pcm"}, {"rate", start.audio_rate_hz}}}};
  co_await socket.send(server::control_frame(ready));
  server::Signal ended(executor), sent_all(executor);
  bool sending = true;
  asio::co_spawn(executor, send_media(socket, start.audio_rate_hz, ended),
                 [&](const std::exception_ptr&) {
                   sending = false;
                   sent_all.notify();
                 });
  while (const std::optional<server::Frame> frame = co_await socket.receive()) {
    const auto now = server::Signal::Clock::now();
    if (frame->text) {
      if (server::type_of(frame->bytes) == server::frame_type::end) break;
    } else if (const auto delay = since_stamp_ms(frame->bytes, 0, now)) {
      delays_ms.with([&](std::vector<float>& all) { all.push_back(*delay); });
    }
  }
  socket.close(server::CloseCode::normal, "");
  ended.notify();
  while (sending) co_await sent_all.wait();
}

StandInWorker::StandInWorker(int slots) : state_(std::make_unique<State>(slots)) {
  state_->thread = std::jthread([state = state_.get()] { state->io.run(); });
}

StandInWorker::~StandInWorker() {
  state_->io.stop();
  state_->thread.join();
}

std::string StandInWorker::url() const { return state_->http.url(); }

std::vector<float> StandInWorker::take_delays_ms() {
  return state_->delays_ms.with([](std::vector<float>& all) { return std::exchange(all, {}); });
}

}  // namespace navtalk::cmd
