#include "tests/fakes/loopback_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace navtalk::tests {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

void parse_target(ReceivedRequest& request) {
  const std::size_t mark = request.target.find('?');
  request.path = percent_decoded(request.target.substr(0, mark));
  if (mark == std::string::npos) return;
  std::string rest = request.target.substr(mark + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string pair = rest.substr(0, end);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    request.query[percent_decoded(pair.substr(0, equals))] =
        percent_decoded(equals < pair.size() ? pair.substr(equals + 1) : "");
    rest.erase(0, end + 1);
  }
}

// Request line and headers; false when they are none.
bool parse_head(const std::string& head, ReceivedRequest& request) {
  const std::size_t first = head.find(' ');
  const std::size_t second = head.find(' ', first + 1);
  if (first == std::string::npos || second == std::string::npos) return false;
  request.method = head.substr(0, first);
  request.target = head.substr(first + 1, second - first - 1);
  parse_target(request);
  std::size_t at = head.find("\r\n") + 2;
  while (at < head.size()) {
    const std::size_t end = std::min(head.find("\r\n", at), head.size());
    const std::string line = head.substr(at, end - at);
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos) {
      const std::size_t value = line.find_first_not_of(' ', colon + 1);
      request.headers[lower(line.substr(0, colon))] =
          value == std::string::npos ? "" : line.substr(value);
    }
    at = end + 2;
  }
  return true;
}

// Reads requests off one connection.
class Reader {
 public:
  explicit Reader(int fd) : fd_(fd) {}

  std::optional<ReceivedRequest> next() {
    std::size_t end = 0;
    while ((end = bytes_.find("\r\n\r\n")) == std::string::npos) {
      if (!more()) return std::nullopt;
    }
    ReceivedRequest request;
    if (!parse_head(bytes_.substr(0, end), request)) return std::nullopt;
    bytes_.erase(0, end + 4);
    const std::string length = request.header("content-length");
    const std::size_t size = length.empty() ? 0 : std::stoul(length);
    while (bytes_.size() < size) {
      if (!more()) return std::nullopt;
    }
    request.body = bytes_.substr(0, size);
    bytes_.erase(0, size);
    return request;
  }

 private:
  bool more() {
    char buffer[16384];
    const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
    if (got <= 0) return false;
    bytes_.append(buffer, static_cast<std::size_t>(got));
    return true;
  }

  int fd_;
  std::string bytes_;
};

int listen_on_loopback(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int one = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd, 64) != 0) {
    ::close(fd);
    throw std::runtime_error("cannot listen on 127.0.0.1:" + std::to_string(port));
  }
  return fd;
}

int port_of(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

const char* phrase(int status) { return status < 400 ? "OK" : "Not OK"; }

}  // namespace

std::string percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      result += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      result += text[i] == '+' ? ' ' : text[i];
    }
  }
  return result;
}

std::string ReceivedRequest::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

bool Connection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      open_ = false;
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool Connection::answer(int status, std::string_view body,
                        const std::vector<std::pair<std::string, std::string>>& headers) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " " + phrase(status) + "\r\n";
  for (const auto& [name, value] : headers) {
    text.append(name).append(": ").append(value).append("\r\n");
  }
  if (status != 204) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return send(text + "\r\n" + std::string(body));
}

bool Connection::wait(std::chrono::milliseconds time) {
  pollfd client{fd_, POLLRDHUP, 0};
  const bool gone = ::poll(&client, 1, static_cast<int>(time.count())) > 0;
  if (gone) open_ = false;
  return !gone;
}

void Connection::hold() {
  pollfd client{fd_, POLLRDHUP, 0};
  ::poll(&client, 1, -1);
  open_ = false;
}

void Connection::reset() {
  const linger now{1, 0};  // closing with this sends RST
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  open_ = false;
}

struct LoopbackServer::State {
  // A connection's descriptor is closed under `mutex`, so that the destructor never shuts down a
  // descriptor that already means something else.
  struct Served {
    int fd = -1;
    std::atomic<bool> done = false;
    std::jthread thread{};
  };

  Handler handler;
  Greeter greeter;
  int listener = -1;
  std::mutex mutex{};
  bool ending = false;
  std::list<Served> served{};
  int connections = 0;
  std::jthread acceptor{};

  bool ends() {
    const std::lock_guard lock(mutex);
    return ending;
  }
  void accept_all();
  void serve(Served& served, int number);
};

void LoopbackServer::State::accept_all() {
  for (;;) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0 && errno == EMFILE && !ends()) {  // a test has taken all descriptors
      std::this_thread::yield();
      continue;
    }
    if (fd < 0) return;
    const int one = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    const std::lock_guard lock(mutex);
    if (ending) {
      ::close(fd);
      return;
    }
    served.remove_if([](const Served& one_served) { return one_served.done.load(); });
    Served& fresh = served.emplace_back();
    fresh.fd = fd;
    fresh.thread = std::jthread([this, &fresh, n = ++connections] { serve(fresh, n); });
  }
}

void LoopbackServer::State::serve(Served& mine, int number) {
  Connection connection(mine.fd);
  Reader reader(mine.fd);
  if (!greeter || greeter(connection)) {
    for (int ordinal = 1; connection.open(); ++ordinal) {
      std::optional<ReceivedRequest> request = reader.next();
      if (!request) break;
      request->connection = number;
      request->ordinal = ordinal;
      handler(connection, *request);
    }
  }
  const std::lock_guard lock(mutex);
  ::close(mine.fd);
  mine.fd = -1;
  mine.done = true;
}

LoopbackServer::LoopbackServer(Handler handler, Greeter greeter, int port)
    : state_(new State{std::move(handler), std::move(greeter), listen_on_loopback(port)}) {
  state_->acceptor = std::jthread([state = state_.get()] { state->accept_all(); });
}

LoopbackServer::~LoopbackServer() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
    ::shutdown(state_->listener, SHUT_RDWR);
    for (State::Served& served : state_->served) {
      if (served.fd >= 0) ::shutdown(served.fd, SHUT_RDWR);
    }
  }
  state_->acceptor.join();
  state_->served.clear();  // joins; not under the lock, which each thread takes at its end
  ::close(state_->listener);
}

int LoopbackServer::port() const { return port_of(state_->listener); }

std::string LoopbackServer::url(std::string_view path) const {
  return "http://127.0.0.1:" + std::to_string(port()) + std::string(path);
}

}  // namespace navtalk::tests
