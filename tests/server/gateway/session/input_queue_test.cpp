#include "server/gateway/session/input_queue.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace navtalk::server;
using Verdict = InputQueue::Verdict;

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
    CHECK(queue.push(frame) == Verdict::kept);
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
  for (std::size_t i = 0; i < InputQueue::k_most_sounds; ++i)
    REQUIRE(queue.push(sound("1")) == Verdict::kept);
  CHECK(queue.push(sound("2")) == Verdict::sound_refused);
  CHECK(queue.push(text("action")) == Verdict::kept);
  queue.pop();
  CHECK(queue.push(sound("3")) == Verdict::kept);
  CHECK(queue.push(sound("4")) == Verdict::sound_refused);
  queue.push(text("interrupt"));
  CHECK(queue.push(sound("5")) == Verdict::kept);
  queue.clear();
  CHECK(queue.push(sound(std::string(InputQueue::k_most_sound_bytes, '1'))) == Verdict::kept);
  CHECK(queue.push(sound("2")) == Verdict::sound_refused);
}

TEST_CASE("control frames beyond the bound are refused, and never an interrupt") {
  InputQueue queue;
  for (std::size_t i = 0; i < InputQueue::k_most_texts; ++i)
    REQUIRE(queue.push(text("input.text")) == Verdict::kept);
  for (const char* type : {"input.text", "keyframe", "action", "input.end"})
    CHECK(queue.push(text(type)) == Verdict::text_refused);
  CHECK(queue.push(sound("1")) == Verdict::kept);
  queue.pop();
  CHECK(queue.push(text("input.text")) == Verdict::kept);
  CHECK(queue.push(text("input.text")) == Verdict::text_refused);
  CHECK(queue.push(text("interrupt")) == Verdict::kept);
  CHECK(queue.push(text("input.text")) == Verdict::kept);
  CHECK(all_of(queue) ==
        std::vector<std::string>{R"({"type":"interrupt"})", R"({"type":"input.text"})"});
}

TEST_CASE("control frames have a bound by bytes as well") {
  InputQueue queue;
  CHECK(queue.push({.text = true, .bytes = std::string(InputQueue::k_most_text_bytes, ' ')}) ==
        Verdict::kept);
  CHECK(queue.push(text("input.text")) == Verdict::text_refused);
  CHECK(queue.push(text("interrupt")) == Verdict::kept);
}

TEST_CASE("what would change nothing waits once") {
  const Frame wave{.text = true, .bytes = R"({"type":"action","name":"wave"})"};
  const Frame nod{.text = true, .bytes = R"({"type":"action","name":"nod"})"};
  const Frame end = text("input.end"), key = text("keyframe");
  InputQueue queue;
  for (const Frame& frame : {wave, key, wave, end, end, key, nod, wave, end})
    CHECK(queue.push(frame) == Verdict::kept);
  CHECK(all_of(queue) == std::vector<std::string>{wave.bytes, key.bytes, end.bytes, nod.bytes,
                                                  wave.bytes, end.bytes});
  for (const Frame& frame : {wave, key, end}) queue.push(frame);
  CHECK(all_of(queue) == std::vector<std::string>{wave.bytes, key.bytes, end.bytes});
}
