#include "core/net/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include "core/base/check.h"
#include "core/base/cptr.h"
#include "core/base/error.h"
#include "core/net/url.h"
#include "core/text/trim.h"

namespace navtalk {
namespace {

constexpr std::size_t k_max_headers = 256 << 10;  // bytes of one answer
constexpr int k_switching_protocols = 101;

void initialise_curl() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  NAVTALK_CHECK(code == CURLE_OK);
}

struct HeaderList {
  CPtr<curl_slist, curl_slist_free_all> list{};

  void add(const std::string& line) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    NAVTALK_CHECK(longer != nullptr);
    static_cast<void>(list.release());
    list.reset(longer);
  }
};

// One exchange as curl's callbacks see it.
struct Exchange {
  const HttpRequest& request;
  HttpAnswer answer{};
  std::size_t header_bytes = 0;
  bool sent = false;
  bool too_long = false;
  bool switched = false;  // 101: what follows is another protocol
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

void add_header(HttpAnswer& answer, std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  answer.headers.emplace(lower(trim(line.substr(0, colon))), trim(line.substr(colon + 1)));
}

// Returning less than was given ends the transfer.
std::size_t on_header(char* bytes, std::size_t, std::size_t size, void* context) {
  auto& exchange = *static_cast<Exchange*>(context);
  const std::string_view line(bytes, size);
  exchange.header_bytes += size;
  if (exchange.header_bytes > k_max_headers) {
    exchange.too_long = true;
    return 0;
  }
  if (line.starts_with("HTTP/")) {  // the first line; of each interim answer as well
    const std::size_t space = line.find(' ');
    exchange.answer.status =
        space == std::string_view::npos ? 0 : std::atoi(std::string(line.substr(space)).c_str());
    exchange.answer.headers.clear();
  } else if (trim(line).empty() && exchange.answer.status == k_switching_protocols) {
    exchange.switched = true;
    return 0;
  } else {
    add_header(exchange.answer, line);
  }
  return size;
}

std::size_t on_body(char* bytes, std::size_t, std::size_t size, void* context) {
  auto& exchange = *static_cast<Exchange*>(context);
  if (exchange.answer.body.size() + size > exchange.request.max_answer) {
    exchange.too_long = true;
    return 0;
  }
  exchange.answer.body.append(bytes, size);
  return size;
}

int on_connected(void* context, char*, char*, int, int) {
  static_cast<Exchange*>(context)->sent = true;
  return CURL_PREREQFUNC_OK;
}

HttpFault::Kind kind_of(CURLcode code, const Exchange& exchange) {
  using enum HttpFault::Kind;
  if (exchange.too_long) return too_long;
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return resolve;
    case CURLE_OPERATION_TIMEDOUT:
      return timeout;
    case CURLE_COULDNT_CONNECT:
      return connect;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER:
      return tls;
    default:
      return exchange.sent ? broken : connect;
  }
}

bool is_token(std::string_view text) {
  constexpr std::string_view k_marks = "!#$%&'*+-.^_`|~";  // RFC 9110, 5.6.2
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || k_marks.find(c) != k_marks.npos;
  });
}

HeaderList header_list(const HttpRequest& request) {
  HeaderList list;
  bool typed = false;
  for (const auto& [name, value] : request.headers) {
    // A line break would let a value speak for the whole request.
    if (!is_token(name) || value.find_first_of(std::string_view("\r\n\0", 3)) != value.npos) {
      throw Error(Code::invalid, "an HTTP header's name or value holds what it may not");
    }
    typed = typed || lower(name) == "content-type";
    std::string line = name;
    line += value.empty() ? ";" : ": ";  // curl's way to write an empty value
    list.add(line += value);
  }
  if (!typed) list.add("Content-Type:");  // curl would call every body a form
  list.add("Expect:");                    // and would wait before it sends a long one
  return list;
}

// Loopback is never reached through the environment's proxy.
std::string no_proxy() {
  std::string list = "localhost,127.0.0.1,::1";
  for (const char* name : {"no_proxy", "NO_PROXY"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return list + "," + value;
  }
  return list;
}

std::string reason(CURLcode code, const Exchange& exchange, const char* details) {
  if (exchange.too_long) return "the answer is longer than is accepted";
  // Before anything was sent, curl's details name addresses and certificates; afterwards they may
  // quote what was sent or received.
  if (!exchange.sent && *details != '\0') return details;
  return curl_easy_strerror(code);
}

}  // namespace

std::optional<std::string> HttpAnswer::header(std::string_view name) const {
  const auto found = headers.find(std::string(name));
  if (found == headers.end()) return std::nullopt;
  return found->second;
}

struct HttpClient::State {
  CPtr<CURLM, curl_multi_cleanup> multi{curl_multi_init()};  // keeps the connections
  CPtr<CURL, curl_easy_cleanup> easy{curl_easy_init()};

  void prepare(const HttpRequest& request, Exchange& exchange, const HeaderList& headers,
               char* details);
  std::optional<CURLcode> run(const std::stop_token& stop);
};

void HttpClient::State::prepare(const HttpRequest& request, Exchange& exchange,
                                const HeaderList& headers, char* details) {
  CURL* const curl = easy.get();
  const auto set = [curl](CURLoption option, auto value) {
    const CURLcode code = curl_easy_setopt(curl, option, value);
    NAVTALK_CHECK(code == CURLE_OK);
  };
  curl_easy_reset(curl);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);  // do not wait for a hanging name server when stopped
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_NOPROXY, no_proxy().c_str());
  set(CURLOPT_USERAGENT, "navtalk/" NAVTALK_VERSION);
  set(CURLOPT_HTTPHEADER, headers.list.get());
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count()));
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
  set(CURLOPT_ERRORBUFFER, details);
  set(CURLOPT_HEADERFUNCTION, on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(&exchange));
  set(CURLOPT_WRITEFUNCTION, on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&exchange));
  set(CURLOPT_PREREQFUNCTION, on_connected);
  set(CURLOPT_PREREQDATA, static_cast<void*>(&exchange));
  const bool safe = request.method == "GET" || request.method == "HEAD";
  if (!safe || !request.body.empty()) {
    set(CURLOPT_POSTFIELDS, request.body.c_str());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  }
  if (request.method == "HEAD") set(CURLOPT_NOBODY, 1L);
  set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  // On a kept connection that dies without an answer curl sends the request a second time, unasked.
  // Only a fresh connection makes sure that a create reaches the server once.
  if (!safe) set(CURLOPT_FRESH_CONNECT, 1L);
}

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
  const std::string place = parse_http_url(request.url).place();
  if (!is_token(request.method)) throw Error(Code::invalid, "not an HTTP method");
  const HeaderList headers = header_list(request);
  Exchange exchange{request};
  std::array<char, CURL_ERROR_SIZE> details{};
  state_->prepare(request, exchange, headers, details.data());

  curl_multi_add_handle(state_->multi.get(), state_->easy.get());
  const std::optional<CURLcode> code = state_->run(stop);
  curl_multi_remove_handle(state_->multi.get(), state_->easy.get());

  if (!code) return HttpFault{HttpFault::Kind::stopped, exchange.sent, place + ": stopped"};
  if (*code == CURLE_OK || exchange.switched) return std::move(exchange.answer);
  return HttpFault{kind_of(*code, exchange), exchange.sent,
                   place + ": " + reason(*code, exchange, details.data())};
}

}  // namespace navtalk
