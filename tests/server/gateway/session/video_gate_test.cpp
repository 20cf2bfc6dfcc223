#include "server/gateway/session/video_gate.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace navtalk::server;
using namespace std::chrono_literals;

namespace {

struct Step {
  bool key = false;
  VideoGate::Duration unsent{};
  VideoGate::Verdict expected{};
};

void play(VideoGate& gate, const std::vector<Step>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    CAPTURE(i);
    CHECK(gate.next(steps[i].key, steps[i].unsent) == steps[i].expected);
  }
}

constexpr VideoGate::Verdict k_pass{.pass = true};
constexpr VideoGate::Verdict k_drop{};
constexpr VideoGate::Verdict k_anew{.pass = true, .discontinuity = true};

}  // namespace

TEST_CASE("pictures pass a gate for as long as the client reads") {
  VideoGate gate(500ms);
  play(gate, {{true, 0ms, k_pass}, {false, 499ms, k_pass}, {true, 100ms, k_pass}});
}

TEST_CASE("for a slow client pictures are dropped, the queued ones too, up to the next key frame") {
  VideoGate gate(500ms);
  play(gate, {{false, 500ms, {.drop_queued = true, .ask_key = true}},
              {false, 600ms, k_drop},
              {false, 10ms, k_drop},
              {true, 10ms, k_anew},
              {false, 20ms, k_pass}});
}

TEST_CASE(
    "a key frame for a client that still does not read is dropped, and another asked for later") {
  VideoGate gate(500ms);
  play(gate, {{true, 500ms, {.drop_queued = true, .ask_key = true}},
              {true, 700ms, k_drop},
              {false, 900ms, k_drop},
              {false, 20ms, {.ask_key = true}},
              {false, 20ms, k_drop},
              {true, 20ms, k_anew}});
}

TEST_CASE("a closed gate lets a key frame pass first, and asks for it where nobody has") {
  const bool asked = GENERATE(true, false);
  VideoGate gate(500ms);
  gate.close(asked);
  play(gate, {{false, 0ms, {.ask_key = !asked}}, {false, 0ms, k_drop}, {true, 0ms, k_anew}});
}

TEST_CASE("a key frame that could not be asked for is asked for with the next picture") {
  VideoGate gate(500ms);
  gate.close(true);
  gate.note_not_asked();
  play(gate, {{false, 0ms, {.ask_key = true}}, {true, 0ms, k_anew}});
}
