#include "server/gateway/jobs/speech/speech_fetches.h"

#include <fmt/format.h>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <memory>
#include <utility>
#include <variant>

#include "core/base/error.h"
#include "core/net/url.h"

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;

constexpr auto k_fetch_within = 60s, k_stall = 10s;
constexpr std::size_t k_longest_refusal = 256 << 10;  // bytes of an answer that is not speech

[[noreturn]] void refuse_url(const std::string& what) {
  throw Error(Code::invalid, "audio_url: " + what);
}

template <class Handler>
struct Waiting {
  explicit Waiting(Handler handler)
      : back(asio::make_work_guard(asio::get_associated_executor(handler))),
        resume(std::move(handler)) {}
  asio::executor_work_guard<asio::associated_executor_t<Handler>> back;
  Handler resume;
};

// The request's URL is valid. Where the client ends before the answer is there, so does the coroutine.
asio::awaitable<HttpResult> answer_to(AsyncHttpClient& client, HttpRequest request) {
  auto begin = [&client, &request](auto handler) {
    const auto waiting = std::make_shared<Waiting<decltype(handler)>>(std::move(handler));
    client.send(std::move(request), [waiting](HttpResult result) {
      asio::post(waiting->back.get_executor(),
                 [resume = std::move(waiting->resume), result = std::move(result)]() mutable {
                   resume(std::move(result));
                 });
    });
  };
  co_return co_await asio::async_initiate<const asio::use_awaitable_t<>, void(HttpResult)>(
      std::move(begin), asio::use_awaitable);
}

}  // namespace

SpeechFetches::SpeechFetches(SpeechFetchOptions options)
    : options_(options),
      room_(k_in_memory * options.max_audio),
      client_({.at_once = k_at_once, .kept_connections = k_kept}) {}

asio::awaitable<FetchedSpeech> SpeechFetches::fetch(TenantId tenant, std::string url) {
  struct Fetch {
    std::shared_ptr<SpeechRoom::Recording> recording;
    std::uint64_t bytes = 0;
    bool no_room = false;
  };
  parse_http_url(url);
  const auto fetch = std::make_shared<Fetch>(Fetch{.recording = room_.begin(tenant)});
  // Of the client's thread.
  const auto take = [this, fetch](const HttpAnswer&, std::string_view bytes) {
    fetch->bytes += bytes.size();
    if (fetch->bytes > options_.max_audio) return false;
    fetch->no_room = !room_.append(*fetch->recording, bytes);
    return !fetch->no_room;
  };
  HttpRequest request{.method = "GET",
                      .url = url,
                      .timeout = k_fetch_within,
                      .max_answer = k_longest_refusal,
                      .stall_timeout = k_stall,
                      .on_body = take,
                      .only_public = !options_.allow_private};
  const HttpResult result = co_await answer_to(client_, std::move(request));
  if (fetch->bytes > options_.max_audio)
    refuse_url(fmt::format("the speech is longer than {} bytes", options_.max_audio));
  FetchedSpeech speech = room_.finish(fetch->recording);
  if (!speech || fetch->no_room)
    throw Error(Code::failed, "too much speech is being fetched: try again later");
  if (const auto* fault = std::get_if<HttpFault>(&result)) {
    if (fault->kind == HttpFault::Kind::stopped)
      throw Error(Code::failed, "the server ends before it has the speech: try again");
    refuse_url(fault->message);
  }
  const int status = std::get<HttpAnswer>(result).status;
  if (status < 200 || status > 299)
    refuse_url(fmt::format("the server answered {}; redirections are not followed", status));
  if (speech->empty()) refuse_url("the server sent nothing");
  co_return speech;
}

}  // namespace navtalk::server
