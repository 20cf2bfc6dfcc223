#include <catch2/catch.hpp>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "core/base/channel.h"
#include "core/base/guarded.h"

using navtalk::Channel;
using navtalk::Guarded;

TEST_CASE("a channel hands out values in order, and moves them") {
  Channel<std::unique_ptr<int>> channel(3);
  for (int i = 0; i < 3; ++i) CHECK(channel.push(std::make_unique<int>(i)));
  CHECK(channel.size() == 3);
  for (int i = 0; i < 3; ++i) CHECK(**channel.pop() == i);
}

TEST_CASE("a closed channel refuses values and still hands out what it holds") {
  Channel<int> channel(2);
  channel.push(1);
  channel.close();
  channel.close();
  CHECK_FALSE(channel.push(2));
  CHECK(channel.pop() == 1);
  CHECK_FALSE(channel.pop());
}

TEST_CASE("a full channel makes the producer wait, and never holds more than it may") {
  Channel<int> channel(2);
  std::jthread producer([&] {
    for (int i = 0; i < 1000; ++i) channel.push(i);
    channel.close();
  });
  std::size_t most = 0;
  int expected = 0;
  while (std::optional<int> value = channel.pop()) {
    most = std::max(most, channel.size());
    CHECK(*value == expected++);
  }
  CHECK(expected == 1000);
  CHECK(most <= 2);
}

TEST_CASE("closing wakes a producer and a consumer that wait") {
  Channel<int> empty(1), full(1);
  full.push(0);
  bool pushed = true, popped = true;
  {
    std::jthread consumer([&] { popped = empty.pop().has_value(); });
    std::jthread producer([&] { pushed = full.push(1); });
    empty.close();
    full.close();
  }
  CHECK_FALSE(pushed);
  CHECK_FALSE(popped);
}

TEST_CASE("a stop request wakes a producer and a consumer that wait") {
  Channel<int> empty(1), full(1);
  full.push(0);
  bool pushed = true, popped = true;
  {
    std::jthread consumer(
        [&](const std::stop_token& stop) { popped = empty.pop(stop).has_value(); });
    std::jthread producer([&](const std::stop_token& stop) { pushed = full.push(1, stop); });
  }
  CHECK_FALSE(pushed);
  CHECK_FALSE(popped);
}

TEST_CASE("many producers and consumers lose and double nothing") {
  constexpr int k_each = 500, k_threads = 3;
  Channel<int> channel(4);
  Guarded<std::vector<int>> received;
  {
    std::vector<std::jthread> consumers;
    consumers.reserve(k_threads);
    for (int c = 0; c < k_threads; ++c) {
      consumers.emplace_back([&] {
        while (std::optional<int> value = channel.pop())
          received.with([&](std::vector<int>& all) { all.push_back(*value); });
      });
    }
    {
      std::vector<std::jthread> producers;
      for (int p = 0; p < k_threads; ++p) {
        producers.emplace_back([&, p] {
          for (int i = 0; i < k_each; ++i) channel.push(p * k_each + i);
        });
      }
    }
    channel.close();
  }
  std::vector<int> all = received.with([](const std::vector<int>& values) { return values; });
  std::sort(all.begin(), all.end());
  std::vector<int> expected(k_each * k_threads);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(all == expected);
}
