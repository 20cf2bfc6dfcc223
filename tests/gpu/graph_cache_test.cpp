// Which graphs are recorded, kept and given up, with graphs that are strings.
#include "gpu/device/graph_cache.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

namespace {

struct Recorder {
  using Cache = navtalk::GraphCache<int, std::string>;

  explicit Recorder(const Cache::Limits& limits)
      : cache(limits, [this](int key, const std::string& why) {
          told.push_back(std::to_string(key) + ": " + why);
        }) {}

  // "" where there is no graph.
  std::string run(int key) {
    const std::string* const graph = cache.find_or_record(key, [&] {
      recorded.push_back(key);
      if (full) throw navtalk::OutOfMemory("the device is full");
      if (fails) throw std::runtime_error("operation not permitted");
      return "graph " + std::to_string(key);
    });
    return graph != nullptr ? *graph : std::string();
  }

  std::vector<int> recorded{};
  std::vector<std::string> told{};
  bool fails = false, full = false;
  Cache cache;
};

}  // namespace

TEST_CASE("a graph is recorded once its shape has come before, and replayed from then on") {
  Recorder one({.runs_before = 2});
  CHECK(one.run(8).empty());
  CHECK(one.run(8).empty());
  CHECK(one.recorded.empty());
  for (int i = 0; i < 3; ++i) CHECK(one.run(8) == "graph 8");
  CHECK(one.recorded == std::vector{8});
  CHECK(one.run(4).empty());
}

TEST_CASE("the graphs used last are kept, as many as the bound allows") {
  Recorder one({.graphs = 2, .runs_before = 0});
  one.run(1);
  one.run(2);
  one.run(1);
  one.run(3);  // in place of 2
  CHECK(one.cache.graphs() == 2);
  CHECK(one.run(1) == "graph 1");
  CHECK(one.recorded == std::vector{1, 2, 3});
  one.run(2);
  CHECK(one.recorded == std::vector{1, 2, 3, 2});
}

TEST_CASE("shapes that come once push out no more graphs than there is room for") {
  Recorder one({.graphs = 3});
  one.run(1);
  CHECK(one.run(1) == "graph 1");
  one.run(10);
  one.run(11);
  CHECK(one.run(1) == "graph 1");
  CHECK(one.recorded == std::vector{1});
}

TEST_CASE("a cache that was cleared records again, but not what failed") {
  Recorder one({});
  one.run(1);
  CHECK(one.run(1) == "graph 1");
  one.fails = true;
  one.run(2);
  CHECK(one.run(2).empty());
  one.fails = false;
  one.cache.clear();
  CHECK(one.cache.graphs() == 0);
  CHECK(one.run(1).empty());
  CHECK(one.run(1) == "graph 1");
  one.run(2);
  CHECK(one.run(2).empty());
  CHECK(one.recorded == std::vector{1, 2, 1});
}

TEST_CASE("a recording that failed is told once and never tried again") {
  Recorder one({.runs_before = 0});
  one.fails = true;
  CHECK(one.run(8).empty());
  one.fails = false;
  for (int i = 0; i < 3; ++i) CHECK(one.run(8).empty());
  CHECK(one.recorded == std::vector{8});
  CHECK(one.told == std::vector<std::string>{"8: operation not permitted"});
  CHECK(one.run(4) == "graph 4");
}

TEST_CASE("after several failures nothing new is recorded, and what was stays") {
  Recorder one({.runs_before = 0, .failures = 2});
  CHECK(one.run(1) == "graph 1");
  one.fails = true;
  one.run(2);
  one.run(3);
  one.fails = false;
  CHECK(one.run(4).empty());
  CHECK(one.run(4).empty());
  CHECK(one.run(1) == "graph 1");
  CHECK(one.recorded == std::vector{1, 2, 3});
  CHECK(one.told.size() == 2);
}

TEST_CASE("a device without memory for a graph is asked again later") {
  Recorder one({.runs_before = 0, .runs_between = 3});
  one.full = true;
  CHECK(one.run(8).empty());
  one.full = false;
  for (int i = 0; i < 3; ++i) CHECK(one.run(8).empty());
  CHECK(one.run(8) == "graph 8");
  CHECK(one.recorded == std::vector{8, 8});
  CHECK(one.told == std::vector<std::string>{"8: the device is full"});
}
