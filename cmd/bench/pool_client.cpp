#include "cmd/bench/pool_client.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

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

PoolClient::PoolClient()
    : process_({.arguments = {"bench", "pool"}, .variables = {fmt::format("{}=1", k_marker)}}) {}

nlohmann::json PoolClient::answer(const std::stop_token& stop) {
  return nlohmann::json::parse(process_.line(stop));
}

}  // namespace navtalk::cmd
