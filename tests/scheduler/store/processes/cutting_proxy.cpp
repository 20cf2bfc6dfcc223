#include "tests/scheduler/store/processes/cutting_proxy.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <list>
#include <stdexcept>

namespace navtalk::tests {
namespace {

constexpr const char* k_socket = ".s.PGSQL.5432";
constexpr int k_look_ms = 20;  // for the end

sockaddr_un address_in(const std::filesystem::path& folder) {
  const std::string path = (folder / k_socket).native();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("too long: " + path);
  std::copy(path.begin(), path.end(), address.sun_path);
  return address;
}

UniqueFd make_socket() { return UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

const sockaddr* as_base(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// Empty at the end of the stream.
std::string read_some(int fd) {
  std::array<char, 65536> bytes{};
  const ssize_t size = ::recv(fd, bytes.data(), bytes.size(), 0);
  return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

CuttingProxy::CuttingProxy(const std::filesystem::path& server)
    : server_(server), listener_(make_socket()) {
  const sockaddr_un address = address_in(folder_.path());
  if (::bind(listener_.value(), as_base(address), sizeof address) != 0 ||
      ::listen(listener_.value(), 16) != 0) {
    throw std::runtime_error("cannot listen in " + folder());
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { accept_all(stop); });
}

CuttingProxy::~CuttingProxy() = default;

void CuttingProxy::cut_next(Cut cut, bool away) {
  away_after_cut_ = away;
  cut_ = cut;
}

void CuttingProxy::accept_all(const std::stop_token& stop) {
  std::list<std::jthread> connections;
  while (!stop.stop_requested()) {
    pollfd ready = {listener_.value(), POLLIN, 0};
    if (::poll(&ready, 1, k_look_ms) <= 0) continue;
    UniqueFd client(::accept4(listener_.value(), nullptr, nullptr, SOCK_CLOEXEC));
    if (away_) continue;
    connections.emplace_back(
        [this, stop, taken = std::move(client)]() mutable { relay(stop, std::move(taken)); });
  }
}

bool CuttingProxy::pass_to_server(const std::string& bytes, int server) {
  const Cut cut = bytes.find("COMMIT") == std::string::npos ? Cut::none : cut_.exchange(Cut::none);
  if (cut == Cut::none) return write_all(server, bytes);
  if (cut == Cut::after_commit) {
    write_all(server, bytes);
    read_some(server);
  }
  away_ = away_after_cut_.load();
  ++cuts_;
  return false;
}

void CuttingProxy::relay(const std::stop_token& stop, UniqueFd client) {
  const UniqueFd server = make_socket();
  const sockaddr_un address = address_in(server_);
  if (::connect(server.value(), as_base(address), sizeof address) != 0) return;
  while (!stop.stop_requested()) {
    std::array<pollfd, 2> ends = {{{client.value(), POLLIN, 0}, {server.value(), POLLIN, 0}}};
    if (::poll(ends.data(), ends.size(), k_look_ms) <= 0) continue;
    if (ends[0].revents != 0) {
      const std::string bytes = read_some(client.value());
      if (bytes.empty() || !pass_to_server(bytes, server.value())) return;
    }
    if (ends[1].revents != 0) {
      const std::string bytes = read_some(server.value());
      if (bytes.empty() || !write_all(client.value(), bytes)) return;
    }
  }
}

}  // namespace navtalk::tests
