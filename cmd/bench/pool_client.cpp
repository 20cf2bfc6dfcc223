#include "cmd/bench/pool_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/files/whole_file.h"
#include "core/process/wait_child.h"
#include "scheduler/pool/pool_store.h"

namespace navtalk::cmd {
namespace {

using Clock = std::chrono::steady_clock;
constexpr const char* k_marker = "BENCH_POOL_CLIENT";  // not NAVTALK_*: those are configuration
constexpr Duration k_lease = std::chrono::minutes(10);

std::int64_t microseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<Duration>(Clock::now() - start).count();
}

class Gateway {
 public:
  explicit Gateway(const nlohmann::json& job)
      : store_(PoolStore::open(job.at("store"))),
        name_(job.at("name")),
        time_(job.at("seconds").get<double>()) {}

  nlohmann::json take() {
    nlohmann::json places = nlohmann::json::array();
    while (auto lease = store_->claim(next_user(), k_lease)) {
      places.push_back({lease->gpu.text, lease->slot});
      leases_.push_back(std::move(*lease));
    }
    return {{"leases", places}};
  }

  nlohmann::json release() {
    for (const Lease& lease : leases_) store_->release(lease.id, lease.epoch);
    leases_.clear();
    return nlohmann::json::object();
  }

  nlohmann::json churn(const std::stop_token& stop) {
    std::vector<std::int64_t> claims, releases;
    int refused = 0;
    std::uint64_t seen = 0;
    const auto end = Clock::now() + time_;
    while (Clock::now() < end && !stop.stop_requested()) {
      const auto start = Clock::now();
      const auto lease = store_->claim(next_user(), k_lease);
      const auto took = microseconds_since(start);
      if (!lease) {
        ++refused;
        seen = store_->wait_for_change(seen, std::chrono::milliseconds(100), stop);
        continue;
      }
      claims.push_back(took);
      const auto start_of_release = Clock::now();
      store_->release(lease->id, lease->epoch);
      releases.push_back(microseconds_since(start_of_release));
    }
    return {{"claim_us", claims}, {"release_us", releases}, {"refused", refused}};
  }

 private:
  Claimant next_user() {
    return {.id = {fmt::format("{}-{}", name_, ++users_)}, .tenant = {"bench"}, .gateway = name_};
  }

  std::unique_ptr<PoolStore> store_;
  std::string name_;
  std::chrono::duration<double> time_;
  int users_ = 0;
  std::vector<Lease> leases_;
};

std::pair<UniqueFd, UniqueFd> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(Code::failed, fmt::format("cannot make a pipe: {}", system_message(errno)));
  }
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// Between fork and exec; only what may be called there.
[[noreturn]] void become_client(int input, int output, char* const* environment) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  std::array<char, 8> navtalk = {"navtalk"}, bench = {"bench"}, pool = {"pool"};
  const std::array<char*, 4> arguments = {navtalk.data(), bench.data(), pool.data(), nullptr};
  execve("/proc/self/exe", arguments.data(), environment);
  _exit(127);
}

}  // namespace

bool is_pool_client() { return std::getenv(k_marker) != nullptr; }

int client_main(const std::stop_token& stop) {
  std::string line;
  if (!std::getline(std::cin, line)) return 0;
  Gateway gateway(nlohmann::json::parse(line));
  std::cout << "ready" << std::endl;
  while (std::getline(std::cin, line)) {
    const nlohmann::json answer = line == "take"      ? gateway.take()
                                  : line == "release" ? gateway.release()
                                                      : gateway.churn(stop);
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}

PoolClient::PoolClient() {
  auto [child_input, input] = make_pipe();
  auto [output, child_output] = make_pipe();
  std::string marker = fmt::format("{}=1", k_marker);
  std::vector<char*> environment;
  for (char** one = environ; *one != nullptr; ++one) environment.push_back(*one);
  environment.push_back(marker.data());
  environment.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) become_client(child_input.value(), child_output.value(), environment.data());
  if (pid_ < 0) {
    throw Error(Code::failed, fmt::format("cannot start a process: {}", system_message(errno)));
  }
  input_ = std::move(input);
  output_ = std::move(output);
}

PoolClient::~PoolClient() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  wait_child(pid_);
}

PoolClient::PoolClient(PoolClient&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      unread_(std::move(other.unread_)) {}

void PoolClient::tell(const std::string& line) {
  const std::string text = line + "\n";
  if (write(input_.value(), text.data(), text.size()) < 0) {
    throw Error(Code::failed, "a client process of the bench has ended");
  }
}

std::string PoolClient::line(const std::stop_token& stop) {
  std::array<char, 65536> piece{};
  std::size_t end = 0;
  while ((end = unread_.find('\n')) == std::string::npos) {
    throw_if_stopped(stop);
    pollfd ready{output_.value(), POLLIN, 0};
    if (poll(&ready, 1, 200) <= 0) continue;  // a stop is looked for in between
    const ssize_t n = read(output_.value(), piece.data(), piece.size());
    if (n <= 0) {
      throw Error(Code::failed,
                  "a client process of the bench ended early; its error stands above");
    }
    unread_.append(piece.data(), static_cast<std::size_t>(n));
  }
  std::string line = unread_.substr(0, end);
  unread_.erase(0, end + 1);
  return line;
}

nlohmann::json PoolClient::answer(const std::stop_token& stop) {
  return nlohmann::json::parse(line(stop));
}

}  // namespace navtalk::cmd
