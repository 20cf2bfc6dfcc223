#include "cmd/bench/serve/processes/process_use.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "core/base/unique_fd.h"

namespace navtalk::cmd {

TEST_CASE("this process is seen with its threads and descriptors, one that is not there is not") {
  const auto before = use_of(getpid());
  REQUIRE(before);
  CHECK(before->threads >= 1);
  CHECK(before->resident_bytes > 0);
  const UniqueFd more(dup(STDOUT_FILENO));
  CHECK(use_of(getpid())->descriptors == before->descriptors + 1);
  CHECK_FALSE(use_of(0));
}

TEST_CASE("the process that listens on a port is found") {
  const UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  REQUIRE(bind(listener.value(), reinterpret_cast<sockaddr*>(&address), length) == 0);
  REQUIRE(getsockname(listener.value(), reinterpret_cast<sockaddr*>(&address), &length) == 0);
  const int port = ntohs(address.sin_port);
  CHECK_FALSE(listener_of(port));  // it is bound, and does not listen
  REQUIRE(listen(listener.value(), 1) == 0);
  CHECK(listener_of(port) == getpid());
}

}  // namespace navtalk::cmd
