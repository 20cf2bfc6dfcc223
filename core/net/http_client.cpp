#include "core/net/http_client.h"

#include "core/base/check.h"
#include "core/net/http_exchange.h"

namespace navtalk {

std::optional<std::string> HttpAnswer::header(std::string_view name) const {
  const auto found = headers.find(std::string(name));
  if (found == headers.end()) return std::nullopt;
  return found->second;
}

struct HttpClient::State {
  CPtr<CURLM, curl_multi_cleanup> multi{curl_multi_init()};  // keeps the connections
  CPtr<CURL, curl_easy_cleanup> easy{curl_easy_init()};

  std::optional<CURLcode> run(const std::stop_token& stop);
};

// The outcome, or nullopt when a stop was asked before it was there.
std::optional<CURLcode> HttpClient::State::run(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] { curl_multi_wakeup(multi.get()); });
  for (;;) {
    int running = 0;
    if (curl_multi_perform(multi.get(), &running) != CURLM_OK) return CURLE_FAILED_INIT;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi.get(), &left)) {
      if (message->msg == CURLMSG_DONE) return message->data.result;
    }
    if (stop.stop_requested()) return std::nullopt;
    curl_multi_poll(multi.get(), nullptr, 0, 1000, nullptr);
  }
}

HttpClient::HttpClient() {
  initialise_curl();
  state_ = std::make_unique<State>();
  NAVTALK_CHECK(state_->multi && state_->easy);
}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

HttpResult HttpClient::send(const HttpRequest& request, const std::stop_token& stop) {
  HttpExchange exchange(request);
  exchange.prepare(state_->easy.get());
  curl_multi_add_handle(state_->multi.get(), state_->easy.get());
  const std::optional<CURLcode> code = state_->run(stop);
  curl_multi_remove_handle(state_->multi.get(), state_->easy.get());
  return code ? exchange.result(*code) : exchange.stopped();
}

}  // namespace navtalk
