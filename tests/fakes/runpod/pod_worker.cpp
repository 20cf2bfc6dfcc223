#include "tests/fakes/runpod/pod_worker.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace navtalk::tests {
namespace {

int connected(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

// The request as the worker gets it: one exchange a connection, unless it is an upgrade.
std::string forwarded(const ReceivedRequest& request) {
  const bool upgrade = !request.header("upgrade").empty();
  std::string text = request.method + " " + request.target + " HTTP/1.1\r\n";
  for (const auto& [name, value] : request.headers) {
    if (name == "connection" && !upgrade) continue;
    text += name + ": " + value + "\r\n";
  }
  if (!upgrade) text += "connection: close\r\n";
  return text + "\r\n" + request.body;
}

// False at the end of the stream.
bool pass_on(int from, Connection& to) {
  char buffer[16384];
  const ssize_t got = ::recv(from, buffer, sizeof buffer, 0);
  return got > 0 && to.send({buffer, static_cast<std::size_t>(got)});
}

void relay(Connection& client, Connection& worker) {
  for (;;) {
    pollfd ends[] = {{client.fd(), POLLIN, 0}, {worker.fd(), POLLIN, 0}};
    ::poll(ends, 2, -1);
    if (ends[1].revents != 0 && !pass_on(worker.fd(), client)) return;
    if (ends[0].revents != 0 && !pass_on(client.fd(), worker)) return;
  }
}

void bad_gateway(Connection& client) {
  client.answer(502, "<html>502 Bad Gateway</html>", {{"Content-Type", "text/html"}});
}

}  // namespace

PodWorker::PodWorker(std::function<bool()> serves)
    : serves_(std::move(serves)),
      server_([this](Connection& client, const ReceivedRequest& request) {
        handle(client, request);
      }) {}

void PodWorker::run(std::shared_ptr<ChildProcess> process) {
  const std::lock_guard lock(mutex_);
  process_wanted_ = true;
  process_ = std::move(process);
}

std::shared_ptr<ChildProcess> PodWorker::process() const {
  const std::lock_guard lock(mutex_);
  return process_;
}

void PodWorker::handle(Connection& client, const ReceivedRequest& request) {
  if (!serves_()) return bad_gateway(client);
  const auto [wanted, process] = [&] {
    const std::lock_guard lock(mutex_);
    return std::pair(process_wanted_, process_);
  }();
  if (!wanted) return fake_.handle(client, request);
  const int port = process ? process->port() : 0;
  const int fd = port != 0 ? connected(port) : -1;
  if (fd < 0) return bad_gateway(client);
  Connection worker(fd);
  if (worker.send(forwarded(request))) relay(client, worker);
  ::close(fd);
  client.close();
}

}  // namespace navtalk::tests
