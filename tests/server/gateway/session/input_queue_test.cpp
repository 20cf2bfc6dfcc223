#include "server/gateway/session/input_queue.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace navtalk::server;

namespace {

Frame sound(const std::string& bytes) { return {.text = false, .bytes = bytes}; }

Frame text(const std::string& type) {
  return {.text = true, .bytes = R"({"type":")" + type + R"("})"};
}

// What is popped, up to the end.
std::vector<std::string> all_of(InputQueue& queue) {
  std::vector<std::string> all;
  while (!queue.empty()) all.push_back(queue.pop().bytes);
  return all;
}

}  // namespace

TEST_CASE("what waits goes on in its order") {
  InputQueue queue;
  for (const Frame& frame : {sound("1"), text("input.end"), sound("2"), text("action")})
    CHECK(queue.push(frame));
  CHECK_FALSE(queue.interrupts());
  CHECK(all_of(queue) ==
        std::vector<std::string>{"1", R"({"type":"input.end"})", "2", R"({"type":"action"})"});
}

TEST_CASE("an interrupt goes on first, without the input that it forgets, and once") {
  InputQueue queue;
  for (const char* type : {"action", "input.text", "input.end", "interrupt", "keyframe"}) {
    queue.push(sound("1"));
    queue.push(text(type));
  }
  queue.push(text("interrupt"));
  queue.push(sound("2"));
  CHECK(queue.interrupts());
  CHECK(all_of(queue) == std::vector<std::string>{R"({"type":"interrupt"})", R"({"type":"action"})",
                                                  R"({"type":"keyframe"})", "2"});
}

TEST_CASE("sound beyond the bound is dropped, and there is room again when some went on") {
  InputQueue queue;
  for (std::size_t i = 0; i < InputQueue::k_most_sounds; ++i) REQUIRE(queue.push(sound("1")));
  CHECK_FALSE(queue.push(sound("2")));
  CHECK(queue.push(text("action")));
  CHECK_FALSE(queue.full());
  queue.pop();
  CHECK(queue.push(sound("3")));
  CHECK_FALSE(queue.push(sound("4")));
  queue.push(text("interrupt"));
  CHECK(queue.push(sound("5")));
  queue.clear();
  CHECK(queue.push(sound(std::string(InputQueue::k_most_sound_bytes, '1'))));
  CHECK_FALSE(queue.push(sound("2")));
}

TEST_CASE("control frames have a bound by number and one by bytes") {
  InputQueue queue;
  for (std::size_t i = 0; i < InputQueue::k_most_texts; ++i) {
    REQUIRE_FALSE(queue.full());
    queue.push(text("action"));
  }
  CHECK(queue.full());
  queue.pop();
  CHECK_FALSE(queue.full());
  queue.push({.text = true, .bytes = std::string(InputQueue::k_most_text_bytes, ' ')});
  CHECK(queue.full());
}
