#include "tests/scheduler/store/processes/postgres_server.h"

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <vector>

#include "core/database/postgres.h"
#include "core/process/pipe.h"

namespace navtalk::tests {
namespace {

constexpr const char* k_user = "postgres";  // Debian's package makes it

// PostgreSQL refuses root. The program dies with the thread that started it.
std::vector<std::string> as_other_user(std::vector<std::string> command) {
  std::vector<std::string> all = {"setpriv", "--pdeathsig", "SIGQUIT"};
  if (getuid() == 0) {
    all.insert(all.end(), {"--reuid", k_user, "--regid", k_user, "--init-groups"});
  }
  all.push_back("--");
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

pid_t spawn(const std::vector<std::string>& command, int output) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    const int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(output, 1);
    dup2(output, 2);
    if (chdir("/") != 0) _exit(126);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  return pid;
}

int ended(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

// Up to the end, or to where `until` has appeared.
std::string read_until(int fd, const std::string& until) {
  std::string all;
  std::array<char, 4096> piece{};
  for (ssize_t n = 0; (n = read(fd, piece.data(), piece.size())) > 0;) {
    all.append(piece.data(), static_cast<std::size_t>(n));
    if (!until.empty() && all.find(until) != std::string::npos) break;
  }
  return all;
}

}  // namespace

std::optional<std::filesystem::path> PostgresServer::programs() {
  std::error_code none;
  for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", none)) {
    if (std::filesystem::exists(version.path() / "bin/initdb")) return version.path() / "bin";
  }
  return std::nullopt;
}

PostgresServer::PostgresServer() {
  if (getuid() == 0) {
    const passwd* user = getpwnam(k_user);
    if (user == nullptr || chown(folder_.path().c_str(), user->pw_uid, user->pw_gid) != 0) {
      throw std::runtime_error("there is no user postgres");
    }
  }
  auto [output, input] = make_pipe();
  const pid_t pid = spawn(as_other_user({*programs() / "initdb", "-D", folder_ / "data", "-U",
                                         "postgres", "--auth=trust", "--no-sync",
                                         "--no-instructions", "--encoding=UTF8", "--locale=C"}),
                          input.value());
  input.reset();
  const std::string said = read_until(output.value(), "");
  if (ended(pid) != 0) throw std::runtime_error("initdb: " + said);
  start();
}

PostgresServer::~PostgresServer() { stop(SIGINT); }

void PostgresServer::start() {
  auto [output, input] = make_pipe();
  log_ = std::move(output);
  pid_ = spawn(as_other_user({*programs() / "postgres", "-D", folder_ / "data", "-k",
                              folder_.path(), "-c", "listen_addresses=", "-c", "fsync=off", "-c",
                              "max_connections=60", "-c", "shared_buffers=32MB"}),
               input.value());
  input.reset();
  const std::string ready = "ready to accept connections";
  const std::string said = read_until(log_.value(), ready);
  if (said.find(ready) == std::string::npos) throw std::runtime_error("postgres: " + said);
  reader_ = std::jthread([this] { read_until(log_.value(), ""); });
}

void PostgresServer::stop(int signal) {
  if (pid_ <= 0) return;
  kill(pid_, signal);
  ended(pid_);
  pid_ = -1;
  reader_ = {};
}

std::string PostgresServer::url() const {
  return "postgresql:///postgres?user=postgres&host=" + folder_.path().string();
}

std::string PostgresServer::fresh_schema() {
  const std::string name = "test_" + std::to_string(++schemas_);
  PostgresConnection(url()).script("CREATE SCHEMA " + name);
  return url() + "&options=-csearch_path%3D" + name;
}

}  // namespace navtalk::tests
