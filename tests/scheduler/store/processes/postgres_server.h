// A PostgreSQL server of the tests' own: a fresh cluster in a temporary folder, on a Unix socket,
// as another user than root. Ends with the object, and with its process.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "core/base/unique_fd.h"
#include "tests/temporary_directory.h"

namespace navtalk::tests {

class PostgresServer {
 public:
  // Where initdb and postgres are; nullopt: not installed.
  static std::optional<std::filesystem::path> programs();

  PostgresServer();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  void start();             // returns when it accepts connections
  void stop(int signal);    // SIGINT: fast, SIGQUIT: as a crash
  std::string url() const;  // of the database
  // With the socket.
  const std::filesystem::path& folder() const { return folder_.path(); }
  std::string fresh_schema();  // makes one; the URL that leads there

 private:
  TemporaryDirectory folder_;
  pid_t pid_ = -1;
  UniqueFd log_;
  std::jthread reader_;  // keeps the log's pipe from filling
  int schemas_ = 0;
};

}  // namespace navtalk::tests
