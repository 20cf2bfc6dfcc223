// A worker without nets for tests: it speaks the worker protocol (docs/protocol.md) on loopback,
// starts in milliseconds, and misbehaves as it is told. It takes the arguments of `navtalk serve
// --worker`; --listen, --slots and --gateway-silence-s count, the others are passed over.
//
// The script is a JSON object, from the variable NAVTALK_FAKE_WORKER at the start and from
// POST /fake later on (what it names replaces what was there):
//
//   {"start_s": 0.5,          healthz says "starting" so long
//    "start_exit": 3,         ends with that status instead of starting, and says so on stderr
//    "no_address": true,      never writes its address
//    "ignore_term": true,     goes on after SIGTERM
//    "echo": true,            sessions send binary frames back
//    "media": 20000,          sessions send 25 pictures a second of so many bytes, and as many frames of
//                             sound, as a live worker does; key frames on demand and at the start
//    "cut": true,             sessions end without a word at the first binary frame
//    "end": "drained",        sessions end with that error at the first binary frame: "drained" with a
//                             notice before it, "failed" with 1011
//    "texts": 100,            sessions send so many errors of 50 kB at the first binary frame
//    "ready": false,          sessions answer nothing to session.start
//    "preparing": 5,          before they are ready they report so many steps, 50 ms apart
//    "journal": FILE,         adds a line for every session that opens, is ended by a newer one, or
//                             closes: {"at_s", "worker", "event", "lease", "epoch", "slot"}
//    "start_error": "failed", sessions answer it with an error of that code, and close
//    "routes": {"/v1/wake": {"delay_s": 1, "status": 500, "code": "failed",
//                            "hold": true, "exit": 9, "times": 2}}}
//
// hold: never answers; exit: ends with that status (137: kills itself) before answering; times:
// only the next so many requests. GET /fake tells what was asked: {"requests": {"/healthz": 3},
// "frames": {"keyframe": 1}, "starts": [...], ...}: requests by path, control frames of sessions by
// type, and each session.start as it came. session.ready tells "worker" (its pod's id, else its process), "slot" and "epoch".
#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/id.h"
#include "scheduler/health/worker_token.h"
#include "server/http/bearer.h"
#include "server/http/http_server.h"
#include "server/http/signal.h"
#include "server/protocol/control_frame.h"
#include "server/protocol/media_frame.h"
#include "server/protocol/start_frame.h"
#include "server/worker/session/slot_table.h"

namespace {

namespace asio = boost::asio;
using namespace navtalk::server;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr auto k_tuple = asio::as_tuple(asio::use_awaitable);

std::chrono::milliseconds milliseconds(const Json& seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds.get<double>() * 1000));
}

struct Arguments {
  std::string listen = "127.0.0.1:0";
  int slots = 1;
  double gateway_silence_s = 0;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--listen") arguments.listen = argv[i + 1];
    if (name == "--slots") arguments.slots = std::stoi(argv[i + 1]);
    if (name == "--gateway-silence-s") arguments.gateway_silence_s = std::stod(argv[i + 1]);
  }
  return arguments;
}

class FakeWorker {
 public:
  FakeWorker(const Arguments& arguments, Json script)
      : arguments_(arguments),
        script_(std::move(script)),
        token_(navtalk::worker_token({})),
        slots_(arguments.slots),
        quiet_(io_),
        signals_(io_, SIGTERM, SIGINT),
        server_(io_, parse_listen_address(arguments.listen), {}, routes()) {}

  int run() {
    if (!script_.value("no_address", false)) {
      std::printf("%s\n", Json({{"url", server_.url()}}).dump().c_str());
      std::fflush(stdout);
    }
    if (script_.value("ignore_term", false)) signals_.remove(SIGTERM);
    if (script_.value("ignore_term", false)) std::signal(SIGTERM, SIG_IGN);
    signals_.async_wait([this](boost::system::error_code, int) { io_.stop(); });
    if (arguments_.gateway_silence_s > 0) asio::co_spawn(io_, watch(), asio::detached);
    io_.run();
    return 0;
  }

 private:
  Router routes() {
    Router router;
    router.header("X-Navtalk-Protocol", "1");
    router.guard([this](const Request& request) { return play(request); });
    router.on("GET", "/fake", [this](const Request&) { return told(); });
    router.on("POST", "/fake", [this](const Request& request) { return tell(request); });
    router.on("GET", "/healthz", [this](const Request&) { return healthz(); });
    router.on("POST", "/v1/pause", [this](const Request&) { return set_state("paused"); });
    router.on("POST", "/v1/wake", [this](const Request&) { return set_state("idle"); });
    router.on("POST", "/v1/drain", [this](const Request&) { return set_state("stopping"); });
    router.on("POST", "/v1/prepare", [this](const Request&) { return set_state(state_); });
    router.on_socket("/v1/session", [this](const Request& request, Upgrade& upgrade) {
      return session(request, upgrade);
    });
    return router;
  }

  // What the script says about this route; the guard of every request.
  asio::awaitable<std::optional<Response>> play(const Request& request) {
    if (request.path == "/fake") co_return std::nullopt;
    last_contact_ = Clock::now();
    ++requests_[request.path];
    if (!has_token(request, token_)) co_return error_response(401, "unauthorised", "wrong token");
    const Json act = next_act(request.path);
    asio::steady_timer timer(co_await asio::this_coro::executor);
    timer.expires_at(act.value("hold", false)
                         ? Clock::time_point::max()
                         : Clock::now() + milliseconds(act.value("delay_s", Json(0))));
    co_await timer.async_wait(k_tuple);
    if (act.contains("exit") && act["exit"] == 137) ::kill(::getpid(), SIGKILL);
    if (act.contains("exit")) ::_exit(act["exit"].get<int>());
    if (act.contains("status")) {
      const std::string code = act.value("code", "failed");
      co_return error_response(act["status"].get<int>(), code, "the script says so");
    }
    co_return std::nullopt;
  }

  Json next_act(const std::string& path) {
    Json& routes = script_["routes"];
    if (!routes.is_object() || !routes.contains(path)) return Json::object();
    Json act = routes[path];
    if (act.contains("times")) {
      const int left = act["times"].get<int>() - 1;
      if (left <= 0) {
        routes.erase(path);
      } else {
        routes[path]["times"] = left;
      }
    }
    return act;
  }

  asio::awaitable<Response> told() {
    Json asked = Json::object();
    for (const auto& [path, count] : requests_) asked[path] = count;
    Json frames = Json::object();
    for (const auto& [type, count] : frames_) frames[type] = count;
    co_return json_response(200, {{"requests", asked},
                                  {"media_bytes", media_bytes_},
                                  {"sessions", slots_.sessions()},
                                  {"frames", frames},
                                  {"starts", starts_}});
  }

  asio::awaitable<Response> tell(const Request& request) {
    script_.update(Json::parse(request.body));
    co_return json_response(200, script_);
  }

  asio::awaitable<Response> healthz() {
    const bool starting = Clock::now() < started_ + milliseconds(script_.value("start_s", Json(0)));
    const bool running = state_ == "idle" && slots_.sessions() > 0;
    const std::string state = starting ? "starting" : running ? "running" : state_;
    Json epochs = Json::array();
    for (const Slot& slot : slots_.slots()) epochs.push_back(slot.epoch);
    const Json body = {
        {"version", "fake"},
        {"protocol", 1},
        {"instance", instance_},
        {"state", state},
        {"device", "fake"},
        {"gpu", {{"name", "fake"}, {"vram_total", 1 << 30}, {"vram_used", 0}, {"util", 0}}},
        {"slots", arguments_.slots},
        {"sessions", slots_.sessions()},
        {"avatars", Json::array()},
        {"lease_epochs", epochs},
        {"uptime_s", std::chrono::duration<double>(Clock::now() - started_).count()}};
    co_return json_response(starting ? 503 : 200, body);
  }

  asio::awaitable<Response> set_state(std::string state) {
    if (state == "paused" && slots_.sessions() > 0)
      co_return error_response(409, "in_use", "there are sessions on this worker");
    state_ = std::move(state);
    if (state_ == "stopping") {
      for (WebSocket* socket : sockets_)
        socket->offer(control_frame({{"type", "session.draining"}, {"notice_s", 0}}));
      co_return json_response(202, {{"sessions", slots_.sessions()}});
    }
    co_return co_await healthz();
  }

  asio::awaitable<std::optional<Response>> session(const Request& request, Upgrade& upgrade) {
    SlotRequest asked;
    asked.lease = request.parameter("lease").value_or("");
    asked.epoch = std::stoull(request.parameter("epoch").value_or("0"));
    if (const auto slot = request.parameter("slot")) asked.slot = std::stoi(*slot);
    if (state_ != "idle") co_return error_response(503, state_, "not ready");
    const SlotAnswer answer = slots_.open(asked);
    if (answer.verdict == SlotAnswer::Verdict::stale)
      co_return error_response(409, "stale_epoch", "a newer lease was seen");
    if (answer.verdict != SlotAnswer::Verdict::opened)
      co_return error_response(503, "no_capacity", "full");
    const SocketLimits limits;
    const Json place = {
        {"worker", name_}, {"lease", asked.lease}, {"epoch", asked.epoch}, {"slot", answer.slot}};
    note(answer.ended ? "replaced" : "opened", place);
    const std::unique_ptr<WebSocket> socket = co_await upgrade.accept(limits);
    if (socket) {
      sockets_.insert(socket.get());
      co_await talk(*socket, place);
      sockets_.erase(socket.get());
    }
    slots_.close(answer.session);
    note("closed", place);
    co_return std::nullopt;
  }

  // One write a line, so that workers may share a file.
  void note(const char* event, Json line) {
    const std::string file = script_.value("journal", "");
    if (file.empty()) return;
    line["event"] = event;
    line["at_s"] = std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
    const std::string text = line.dump() + "\n";
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || ::write(fd, text.data(), text.size()) < 0) std::perror(file.c_str());
    ::close(fd);
  }

  // Of one session.
  struct Media {
    explicit Media(const asio::any_io_executor& executor) : tick(executor), over(executor) {}
    StreamPosition next{};
    Clock::time_point begin{};
    bool key = true, paused = false, stopped = false, running = false;
    Signal tick, over;
  };

  asio::awaitable<void> show(std::shared_ptr<Media> media, WebSocket& socket, std::size_t bytes) {
    using namespace std::chrono_literals;
    for (auto due = media->begin; !media->stopped; due += 40ms) {
      while (!media->stopped && Clock::now() < due) co_await media->tick.wait(due);
      const auto time = media->next.clock;
      media->next.clock += 40ms;
      if (media->stopped || media->paused) continue;
      socket.offer(
          media_frame({.kind = MediaKind::pcm, .sequence = media->next.sounds++, .time = time},
                      std::string(1280, 's')));
      const std::uint8_t flags =
          std::exchange(media->key, false) ? media_flag::key : std::uint8_t{0};
      socket.offer(media_frame({.kind = MediaKind::video,
                                .flags = flags,
                                .sequence = media->next.pictures++,
                                .time = time},
                               std::string(bytes, 'p')));
    }
    media->running = false;
    media->over.notify();
  }

  void begin_media(const std::shared_ptr<Media>& media, WebSocket& socket,
                   const std::string& start) {
    if (!script_.contains("media")) return;
    if (const auto position = parse_start(nlohmann::json::parse(start)).position) {
      using Slot = std::chrono::duration<std::int64_t, std::ratio<1, 25>>;
      media->next = *position;
      media->next.clock = std::chrono::ceil<Slot>(position->clock);
    }
    media->begin = Clock::now();
    media->running = true;
    asio::co_spawn(io_, show(media, socket, script_["media"].get<std::size_t>()), asio::detached);
  }

  asio::awaitable<void> talk(WebSocket& socket, const Json& place) {
    const auto media = std::make_shared<Media>(io_.get_executor());
    co_await converse(socket, place, media);
    media->stopped = true;
    media->tick.notify();
    while (media->running) co_await media->over.wait();
  }

  asio::awaitable<void> converse(WebSocket& socket, const Json& place,
                                 const std::shared_ptr<Media>& media) {
    for (;;) {
      const std::optional<Frame> frame = co_await socket.receive();
      if (!frame) co_return;
      const auto object = frame->text ? parse_control(frame->bytes) : std::nullopt;
      const std::string type = object ? object->at("type").get<std::string>() : "";
      if (frame->text) ++frames_[type];
      if (type == "session.start") starts_.push_back(Json::parse(frame->bytes));
      if (type == "keyframe") media->key = true;
      if (type == "output.pause" || type == "output.resume") media->paused = type == "output.pause";
      if (!frame->text) media_bytes_ += frame->bytes.size();
      if (type == "session.start" && script_.contains("start_error")) {
        socket.offer(error_frame(script_["start_error"].get<std::string>(), "the script says so"));
        socket.close(CloseCode::refused, "");
      } else if (type == "session.start" && script_.value("ready", true)) {
        const int steps = script_.value("preparing", 0);
        for (int i = 1; i <= steps && socket.open(); ++i) {
          socket.offer(preparing_frame(static_cast<std::size_t>(i), 250));
          asio::steady_timer pause(co_await asio::this_coro::executor,
                                   std::chrono::milliseconds(50));
          co_await pause.async_wait(k_tuple);
        }
        Frame ready = session_ready(place, *object);
        co_await socket.send(std::move(ready));
        begin_media(media, socket, frame->bytes);
      } else if (type == "session.end") {
        socket.close(CloseCode::normal, "");
      } else if (!frame->text && script_.value("cut", false)) {
        co_return;
      } else if (!frame->text && script_.contains("end")) {
        const std::string code = script_["end"];
        if (code == "drained") socket.offer(draining_frame(std::chrono::milliseconds(0)));
        socket.offer(error_frame(code, "the script says so"));
        socket.close(code == "failed" ? CloseCode::failed : CloseCode::going_away, code);
      } else if (!frame->text && script_.contains("texts")) {
        const int texts = std::exchange(script_["texts"], 0).get<int>();
        const Frame text = error_frame("usage", std::string(50'000, 'x'));
        for (int i = 0; i < texts && socket.open(); ++i) co_await socket.send(text);
      } else if (!frame->text && script_.value("echo", false)) {
        co_await socket.send(*frame);
      }
    }
  }

  // g++ 12 does not compile such a list within a coroutine's co_await.
  static Frame session_ready(const Json& place, const nlohmann::json& start) {
    Json ready = {{"type", "session.ready"}, {"avatar", start.value("avatar", "fake")}};
    for (const char* key : {"worker", "slot", "epoch"}) ready[key] = place[key];
    return control_frame(ready);
  }

  static std::string name_of_this() {
    const char* pod = std::getenv("RUNPOD_POD_ID");
    return pod != nullptr ? pod : std::to_string(::getpid());
  }

  // As the real one, so that a killed gateway leaves nothing behind.
  asio::awaitable<void> watch() {
    const auto bound = milliseconds(arguments_.gateway_silence_s);
    for (;;) {
      quiet_.expires_after(bound / 4);
      co_await quiet_.async_wait(k_tuple);
      if (slots_.sessions() > 0) last_contact_ = Clock::now();
      if (Clock::now() - last_contact_ > bound) break;
    }
    io_.stop();
  }

  Arguments arguments_;
  Json script_;
  std::string token_, name_ = name_of_this(), state_ = "idle";
  const std::string instance_ = navtalk::random_id();
  Clock::time_point started_ = Clock::now(), last_contact_ = Clock::now();
  SlotTable slots_;
  std::set<WebSocket*> sockets_;
  std::map<std::string, int> requests_, frames_;
  Json starts_ = Json::array();
  std::uint64_t media_bytes_ = 0;
  asio::io_context io_{1};
  asio::steady_timer quiet_;
  asio::signal_set signals_;
  HttpServer server_;
};

}  // namespace

int main(int argc, char** argv) {
  const char* text = std::getenv("NAVTALK_FAKE_WORKER");
  const Json script = text == nullptr ? Json::object() : Json::parse(text);
  if (script.contains("start_exit")) {
    std::fprintf(stderr, "fake worker: the script says that it cannot start\n");
    return script["start_exit"].get<int>();
  }
  return FakeWorker(parse(argc, argv), script).run();
}
