#include "server/http/socket/token_bucket.h"

#include <catch2/catch.hpp>

#include "server/http/socket/read_pace.h"

using namespace navtalk::server;
using namespace std::chrono_literals;

namespace {

const TokenBucket::Clock::time_point k_begin{};

}  // namespace

TEST_CASE("a bucket gives its burst at once, and then its rate") {
  TokenBucket bucket({.burst = 100, .per_second = 10}, k_begin);
  CHECK(bucket.available(k_begin) == 100);
  bucket.take(100, k_begin);
  CHECK(bucket.available(k_begin) == 0);
  CHECK(bucket.time_to(5, k_begin) == 500ms);
  CHECK(bucket.available(k_begin + 500ms) == 5);
  bucket.take(25, k_begin + 500ms);  // more than there are
  CHECK(bucket.available(k_begin + 2s) == 0);
  CHECK(bucket.time_to(5, k_begin + 2s) == 1s);
  CHECK(bucket.available(k_begin + 1h) == 100);  // not more than the burst
  CHECK(bucket.time_to(100, k_begin + 1h) == 0s);
}

TEST_CASE("a peer is read at its pace, and sends too fast when its bytes always wait") {
  ReadPace pace({.bytes = {.burst = 4096, .per_second = 1024}, .patience = 10s}, k_begin);
  CHECK(pace.allowed(1 << 20, k_begin) == 4096);
  pace.note_read(4096, k_begin);
  CHECK(pace.allowed(1 << 20, k_begin) == 0);
  CHECK(pace.pause(k_begin) > 0s);
  CHECK(pace.pause(k_begin) <= 250ms);
  CHECK(pace.allowed(1 << 20, k_begin + 1s) == 1024);
  pace.note_read(1024, k_begin + 1s);
  CHECK(pace.allowed(1 << 20, k_begin + 9s + 900ms) > 0);
  CHECK_FALSE(pace.too_fast());
  pace.note_read(8192, k_begin + 9s + 900ms);
  CHECK(pace.allowed(1 << 20, k_begin + 10s) == 0);
  CHECK(pace.too_fast());
}

TEST_CASE("a peer whose bytes do not always wait is not too fast, however long it sends") {
  ReadPace pace({.bytes = {.burst = 2048, .per_second = 1024}, .patience = 10s}, k_begin);
  for (int second = 0; second < 100; second += 2) {
    const auto now = k_begin + std::chrono::seconds(second);
    CHECK(pace.allowed(2048, now) == 2048);
    pace.note_read(2048, now);
    CHECK(pace.allowed(10, now) == 0);         // a few more wait
    CHECK(pace.allowed(0, now + 100ms) == 0);  // they were the last ones for now
  }
  CHECK_FALSE(pace.too_fast());
}
