#include "core/net/http_exchange.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/shortage.h"
#include "core/net/public_address.h"
#include "core/net/url.h"
#include "core/text/number.h"
#include "core/text/trim.h"

namespace navtalk {
namespace {

constexpr std::size_t k_max_headers = 256 << 10;  // bytes of one answer
constexpr int k_switching_protocols = 101;

using HeaderList = CPtr<curl_slist, curl_slist_free_all>;

void add_line(HeaderList& list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list.get(), line.c_str());
  NAVTALK_CHECK(longer != nullptr);
  static_cast<void>(list.release());
  list.reset(longer);
}

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

bool is_token(std::string_view text) {
  constexpr std::string_view k_marks = "!#$%&'*+-.^_`|~";  // RFC 9110, 5.6.2
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || k_marks.find(c) != k_marks.npos;
  });
}

// Even an empty one.
bool has_body(const HttpRequest& request) {
  const bool safe = request.method == "GET" || request.method == "HEAD";
  return !safe || !request.body_file.empty() || !request.body.empty();
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
    add_line(list, line += value);
  }
  if (request.aws) {
    // S3 refuses requests without it.
    add_line(list, "x-amz-content-sha256: " + request.body_sha256);
    if (!request.aws->session_token.empty()) {
      add_line(list, "x-amz-security-token: " + request.aws->session_token);
    }
    // S3 keeps it with the object; curl would call the body a form.
    if (!typed && has_body(request)) add_line(list, "Content-Type: application/octet-stream");
    // Not the lines below, which only take headers away: curl 7.88 would sign what is not sent.
    return list;
  }
  if (!typed) add_line(list, "Content-Type:");  // curl would call every body a form
  add_line(list, "Expect:");                    // and would wait before it sends a long one
  return list;
}

UniqueFd open_body(const std::filesystem::path& file, curl_off_t& bytes) {
  UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status = {};
  if (!fd || ::fstat(fd.value(), &status) != 0) {
    throw Error(errno == ENOENT ? Code::not_found : Code::invalid,
                file.native() + " cannot be read: " + std::generic_category().message(errno));
  }
  if (!S_ISREG(status.st_mode)) throw Error(Code::invalid, file.native() + " is not a file");
  bytes = status.st_size;
  return fd;
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

}  // namespace

void initialise_curl() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  NAVTALK_CHECK(code == CURLE_OK);
}

HttpExchange::HttpExchange(HttpRequest request)
    : request_(std::move(request)), authority_(parse_http_url(request_.url).authority()) {
  if (!is_token(request_.method)) throw Error(Code::invalid, "not an HTTP method");
  if (!request_.body_file.empty()) body_file_ = open_body(request_.body_file, body_file_bytes_);
  headers_ = header_list(request_);
}

// Returning less than was given ends the transfer.
std::size_t HttpExchange::on_header(char* bytes, std::size_t, std::size_t size, void* self) {
  auto& exchange = *static_cast<HttpExchange*>(self);
  const std::string_view line(bytes, size);
  exchange.header_bytes_ += size;
  if (exchange.header_bytes_ > k_max_headers) {
    exchange.too_long_ = true;
    return 0;
  }
  if (line.starts_with("HTTP/")) {  // the first line; of each interim answer as well
    std::string_view status = line.substr(std::min(line.find(' ') + 1, line.size()));
    exchange.answer_.status = take_number<int>(status).value_or(0);
    exchange.answer_.headers.clear();
  } else if (trim(line).empty() && exchange.answer_.status == k_switching_protocols) {
    exchange.switched_ = true;
    return 0;
  } else {
    add_header(exchange.answer_, line);
  }
  return size;
}

std::size_t HttpExchange::on_body(char* bytes, std::size_t, std::size_t size, void* self) {
  auto& exchange = *static_cast<HttpExchange*>(self);
  const int status = exchange.answer_.status;
  if (exchange.request_.on_body && status >= 200 && status < 300) {
    return exchange.request_.on_body(exchange.answer_, {bytes, size}) ? size : 0;
  }
  if (exchange.answer_.body.size() + size > exchange.request_.max_answer) {
    exchange.too_long_ = true;
    return 0;
  }
  exchange.answer_.body.append(bytes, size);
  return size;
}

std::size_t HttpExchange::on_read(char* bytes, std::size_t, std::size_t size, void* self) {
  const int file = static_cast<HttpExchange*>(self)->body_file_.value();
  for (;;) {
    const ssize_t got = ::read(file, bytes, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return CURL_READFUNC_ABORT;
  }
}

int HttpExchange::on_connected(void* self, char*, char*, int, int) {
  static_cast<HttpExchange*>(self)->sent_ = true;
  return CURL_PREREQFUNC_OK;
}

// curl does not say why it has no socket.
curl_socket_t HttpExchange::open_socket(void* self, curlsocktype, curl_sockaddr* address) {
  auto& exchange = *static_cast<HttpExchange*>(self);
  if (exchange.request_.only_public && !is_public(address->addr, address->addrlen)) {
    exchange.not_public_ = true;
    return CURL_SOCKET_BAD;
  }
  const int opened = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (opened < 0 && is_shortage(errno)) exchange.note_shortage();
  return opened < 0 ? CURL_SOCKET_BAD : opened;
}

bool HttpExchange::is_own_shortage(CURLcode code) const {
  if (sent_) return false;
  if (shortage_ || code == CURLE_OUT_OF_MEMORY) return true;
  if (code == CURLE_COULDNT_CONNECT) {
    long why = 0;
    return curl_easy_getinfo(curl_, CURLINFO_OS_ERRNO, &why) == CURLE_OK &&
           is_shortage(static_cast<int>(why));
  }
  // A resolver, or a reader of certificates, that can open no file finds nothing.
  const bool reads_files =
      code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY ||
      code == CURLE_SSL_CACERT_BADFILE || code == CURLE_PEER_FAILED_VERIFICATION;
  return reads_files && out_of_descriptors();
}

HttpFault::Kind HttpExchange::kind_of(CURLcode code) const {
  using enum HttpFault::Kind;
  if (too_long_) return too_long;
  if (is_own_shortage(code)) return shortage;
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return resolve;
    case CURLE_OPERATION_TIMEDOUT:
      return timeout;
    case CURLE_COULDNT_CONNECT:
      return refused() ? connect : broken;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER:
      return tls;
    default:
      return broken;
  }
}

// No route, or no descriptor left for a socket, says nothing about the other end.
bool HttpExchange::refused() const {
  long error = 0;
  curl_easy_getinfo(curl_, CURLINFO_OS_ERRNO, &error);
  return error == ECONNREFUSED;
}

std::string HttpExchange::reason(CURLcode code) const {
  if (too_long_) return "the answer is longer than is accepted";
  // Before anything was sent, curl's details name addresses and certificates; afterwards they may
  // quote what was sent or received.
  if (!sent_ && not_public_) return "its address is not a public one";
  if (!sent_ && details_[0] != '\0') return details_.data();
  return curl_easy_strerror(code);
}

void HttpExchange::prepare_body(CURL* curl) {
  const auto set = [curl](CURLoption option, auto value) {
    const CURLcode code = curl_easy_setopt(curl, option, value);
    NAVTALK_CHECK(code == CURLE_OK);
  };
  if (body_file_) {
    set(CURLOPT_UPLOAD, 1L);
    set(CURLOPT_READFUNCTION, on_read);
    set(CURLOPT_READDATA, static_cast<void*>(this));
    set(CURLOPT_INFILESIZE_LARGE, body_file_bytes_);
  } else if (has_body(request_)) {
    set(CURLOPT_POSTFIELDS, request_.body.c_str());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
  }
}

void HttpExchange::sign(CURL* curl) {
  const auto set = [curl](CURLoption option, const std::string& value) {
    NAVTALK_CHECK(curl_easy_setopt(curl, option, value.c_str()) == CURLE_OK);
  };
  set(CURLOPT_AWS_SIGV4, "aws:amz:" + request_.aws->region + ":s3");
  set(CURLOPT_USERNAME, request_.aws->access_key);
  set(CURLOPT_PASSWORD, request_.aws->secret_key);
}

void HttpExchange::prepare(CURL* curl) {
  const auto set = [curl](CURLoption option, auto value) {
    const CURLcode code = curl_easy_setopt(curl, option, value);
    NAVTALK_CHECK(code == CURLE_OK);
  };
  curl_ = curl;
  curl_easy_reset(curl);
  set(CURLOPT_OPENSOCKETFUNCTION, open_socket);
  set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);  // do not wait for a hanging name server when stopped
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_URL, request_.url.c_str());
  set(CURLOPT_NOPROXY, request_.only_public ? "*" : no_proxy().c_str());
  set(CURLOPT_USERAGENT, "navtalk/" NAVTALK_VERSION);
  set(CURLOPT_HTTPHEADER, headers_.get());
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request_.connect_timeout.count()));
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(request_.timeout.count()));
  set(CURLOPT_ERRORBUFFER, details_.data());
  set(CURLOPT_HEADERFUNCTION, on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEFUNCTION, on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  set(CURLOPT_PREREQFUNCTION, on_connected);
  set(CURLOPT_PREREQDATA, static_cast<void*>(this));
  const auto set_file = [&set](CURLoption option, const std::string& file) {
    if (!file.empty()) set(option, file.c_str());
  };
  set_file(CURLOPT_CAINFO, request_.tls.ca_file);
  set_file(CURLOPT_SSLCERT, request_.tls.certificate_file);
  set_file(CURLOPT_SSLKEY, request_.tls.key_file);
  // Debian's curl has a folder of trusted certificates beside that file.
  if (!request_.tls.ca_file.empty() || !request_.tls.ca.empty())
    set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  const auto set_text = [&set](CURLoption option, std::string& text) {
    if (text.empty()) return;
    curl_blob blob{text.data(), text.size(), CURL_BLOB_NOCOPY};
    set(option, &blob);
  };
  set_text(CURLOPT_CAINFO_BLOB, request_.tls.ca);
  set_text(CURLOPT_SSLCERT_BLOB, request_.tls.certificate);
  set_text(CURLOPT_SSLKEY_BLOB, request_.tls.key);
  if (request_.stall_timeout.count() > 0) {
    set(CURLOPT_LOW_SPEED_LIMIT, request_.least_rate);
    set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(request_.stall_timeout.count()));
  }
  prepare_body(curl);
  if (request_.aws) sign(curl);
  const bool safe = request_.method == "GET" || request_.method == "HEAD";
  if (request_.method == "HEAD") set(CURLOPT_NOBODY, 1L);
  set(CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  // On a kept connection that dies without an answer curl sends the request a second time, unasked.
  // Only a fresh connection makes sure that a create reaches the server once.
  if (!safe) set(CURLOPT_FRESH_CONNECT, 1L);
}

HttpResult HttpExchange::result(CURLcode code) {
  if (code == CURLE_OK || switched_) return std::move(answer_);
  return HttpFault{kind_of(code), sent_, authority_ + ": " + reason(code)};
}

HttpResult HttpExchange::stopped() const {
  return HttpFault{HttpFault::Kind::stopped, sent_, authority_ + ": stopped"};
}

}  // namespace navtalk
