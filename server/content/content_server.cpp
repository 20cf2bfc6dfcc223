#include "server/content/content_server.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/log/log.h"
#include "core/text/number.h"
#include "server/content/content_body.h"
#include "server/http/as_tuple.h"
#include "server/http/bearer.h"
#include "server/http/blocking_threads.h"
#include "server/http/http_server.h"
#include "server/http/io_loop.h"
#include "server/http/local_only.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto k_poll = 20ms;  // whether more has come
// Until the first byte of what is fetched for others; then they ask elsewhere.
constexpr auto k_first_byte = 60s;
constexpr std::size_t k_connections = 256;
constexpr std::size_t k_readers = 2;  // threads

// One content that is fetched for others.
struct Pull {
  bool over = false;
  std::optional<Error> problem{};
};

struct Wanted {
  ArtifactFile file{};
  std::uint64_t first = 0, end = 0;  // of the bytes that are asked for
  bool ranged = false;
  bool held = false;
};

constexpr const char* k_bad_range = "the range is one of bytes that the content has";

[[noreturn]] void refuse(const char* why) { throw Error(Code::usage, why); }

Wanted parse_wanted(const Request& request) {
  Wanted wanted;
  wanted.file.sha256 = request.capture("sha256");
  const auto bytes = parse_number<std::uint64_t>(request.parameter("bytes").value_or(""));
  wanted.file.key = request.parameter("key").value_or("");
  wanted.held = request.parameter("held").has_value();
  if (!valid_sha256(wanted.file.sha256))
    refuse("content is named by its SHA-256: 64 lower-case hexadecimal digits");
  if (!bytes || *bytes == 0) refuse("bytes is the content's size");
  if (!valid_artifact_path(wanted.file.key)) refuse("key is where the model store has the content");
  wanted.file.bytes = *bytes;
  wanted.end = *bytes;
  const std::optional<std::string> range = request.header("range");
  if (!range) return wanted;
  std::string_view text = *range;
  constexpr std::string_view k_unit = "bytes=";
  const std::size_t dash = text.starts_with(k_unit) ? text.find('-') : text.npos;
  if (dash == text.npos) refuse(k_bad_range);
  const auto first = parse_number<std::uint64_t>(text.substr(k_unit.size(), dash - k_unit.size()));
  text.remove_prefix(dash + 1);
  const auto last = text.empty() ? wanted.file.bytes - 1 : parse_number<std::uint64_t>(text);
  if (!first || !last || *first > *last || *last >= wanted.file.bytes) refuse(k_bad_range);
  wanted.first = *first;
  wanted.end = *last + 1;
  wanted.ranged = true;
  return wanted;
}

ListenAddress checked_address(const ContentServerOptions& options) {
  ListenAddress address = parse_listen_address(options.listen);
  if (!options.token.empty() || is_loopback(address)) return address;
  throw Error(Code::invalid, "models.listen " + options.listen +
                                 " needs a token: set NAVTALK_PEER_TOKEN or "
                                 "models.peer_token_file, or listen on 127.0.0.1");
}

}  // namespace

struct ContentServer::Parts {
  template <class T>
  using Awaitable = asio::awaitable<T>;

  explicit Parts(ContentServerOptions given)
      : options(std::move(given)),
        cache(options.fetch.cache, options.fetch.cache_bytes),
        cache_id(cache.id()),
        server(io, checked_address(options), {.connections = k_connections}, router()),
        pullers(options.pulls),
        thread([this] { io.run(); }) {}
  ~Parts() {
    stop.request_stop();
    io.stop();
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  Router router();
  std::optional<Response> refuse_caller(const Request& request) const;
  Awaitable<Response> content(const Request& request);
  std::shared_ptr<Pull> pull_of(const ArtifactFile& file);
  Awaitable<void> run(ArtifactFile file, std::shared_ptr<Pull> pull);
  Awaitable<void> pause();

  struct Upload;

  const ContentServerOptions options;
  std::stop_source stop;
  const ArtifactCache cache;
  const std::string cache_id;
  std::size_t uploads = 0;
  std::map<std::string, std::shared_ptr<Pull>> pulls{};  // by SHA-256
  IoLoop io;
  HttpServer server;
  CoroutineScope coroutines{io};
  BlockingThreads readers{k_readers}, pullers;
  std::jthread thread;
};

// One answer with content; it counts for as long as it is sent.
struct ContentServer::Parts::Upload {
  Upload(Parts& of, const Wanted& wanted)
      : parts(of), body(parts.cache, wanted.file, wanted.first, wanted.end) {
    ++parts.uploads;
  }
  ~Upload() { --parts.uploads; }
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  // The next piece; "" at the end, and when what is missing does not come.
  Awaitable<std::string> next();

  Parts& parts;
  ContentBody body;
  std::shared_ptr<Pull> pull{};  // nullptr: all of it is there
  std::string ahead{};           // was read before the answer
};

asio::awaitable<std::string> ContentServer::Parts::Upload::next() {
  if (!ahead.empty()) co_return std::exchange(ahead, {});
  for (;;) {
    const bool last =
        pull == nullptr || pull->over;  // before it is read: what is there is all then
    auto read = [this] { return body.read(); };
    std::string piece = co_await parts.readers.run(read);
    if (!piece.empty() || last || body.at_end() || body.spoilt()) co_return piece;
    co_await parts.pause();
  }
}

asio::awaitable<void> ContentServer::Parts::pause() {
  asio::steady_timer timer(io, k_poll);
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
}

Router ContentServer::Parts::router() {
  Router router;
  router.guard([this](const Request& request) -> Awaitable<std::optional<Response>> {
    co_return refuse_caller(request);
  });
  router.on("GET", std::string("/") + k_content_path + "{sha256}",
            [this](const Request& request) { return content(request); });
  return router;
}

std::optional<Response> ContentServer::Parts::refuse_caller(const Request& request) const {
  if (options.token.empty()) return refuse_foreign(request);
  if (!has_token(request, options.token))
    return error_response(401, "unauthorised", "the peers' token is missing or wrong");
  return refuse_pages(request);
}

std::shared_ptr<Pull> ContentServer::Parts::pull_of(const ArtifactFile& file) {
  if (const auto found = pulls.find(file.sha256); found != pulls.end()) return found->second;
  if (pulls.size() >= options.pulls) return nullptr;
  auto pull = std::make_shared<Pull>();
  pulls.emplace(file.sha256, pull);
  asio::co_spawn(io, run(file, pull), asio::detached);
  return pull;
}

asio::awaitable<void> ContentServer::Parts::run(ArtifactFile file, std::shared_ptr<Pull> pull) {
  auto fetch = [this, &file]() -> std::optional<Error> {
    try {
      fetch_content(file, options.fetch, stop.get_token());
      return std::nullopt;
    } catch (const Error& error) {
      return error;
    }
  };
  pull->problem = co_await pullers.run(fetch);
  pull->over = true;
  pulls.erase(file.sha256);
  if (pull->problem)
    log::warn("content cannot be fetched for others", {{"error", pull->problem->message()}});
}

asio::awaitable<Response> ContentServer::Parts::content(const Request& request) {
  if (request.header(k_cache_header_lower_case) == cache_id)
    co_return error_response(k_own_cache, "own_cache", "this is your own cache");
  const Wanted wanted = parse_wanted(request);
  const bool whole = cache.has_blob(wanted.file);
  if (!whole && wanted.held) co_return error_response(404, "not_found", "it is not here");
  Response busy = error_response(503, "busy", "this machine sends enough already");
  busy.headers.emplace_back("Retry-After", "1");
  if (uploads >= options.uploads) co_return busy;
  const auto upload = std::make_shared<Upload>(*this, wanted);
  if (!whole) upload->pull = pull_of(wanted.file);
  if (!whole && !upload->pull) co_return busy;
  const auto until = std::chrono::steady_clock::now() + k_first_byte;
  while (upload->ahead.empty()) {
    const bool over = upload->pull == nullptr || upload->pull->over;
    auto read = [&] { return upload->body.read(); };
    upload->ahead = co_await readers.run(read);
    if (!upload->ahead.empty()) break;
    if (over || std::chrono::steady_clock::now() >= until)
      co_return error_response(404, "not_found", "it is not here, and cannot be had");
    co_await pause();
  }
  Response response{.content_type = "application/octet-stream"};
  if (wanted.ranged) {
    response.status = 206;
    response.headers.emplace_back("Content-Range", fmt::format("bytes {}-{}/{}", wanted.first,
                                                               wanted.end - 1, wanted.file.bytes));
  }
  response.long_body = {.bytes = wanted.end - wanted.first,
                        .next = [upload] { return upload->next(); }};
  co_return response;
}

ContentServer::ContentServer(ContentServerOptions options)
    : parts_(std::make_unique<Parts>(std::move(options))) {}

ContentServer::~ContentServer() = default;

std::string ContentServer::url() const { return parts_->server.url(); }

}  // namespace navtalk::server
