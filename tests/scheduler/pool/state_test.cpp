// Every (state, event) pair of one GPU.
#include "scheduler/pool/state.h"

#include <array>
#include <catch2/catch.hpp>

using namespace navtalk;

namespace {

constexpr int no = -1;
// Rows: events as declared; columns: idle, running, starting, paused, failed, stopping.
constexpr std::array<std::array<int, k_states>, k_events> k_table = {{
    {no, no, 0, no, 0, no},   // ready
    {1, 1, no, no, no, no},   // session_opened
    {no, 0, no, no, no, no},  // emptied
    {no, no, no, 2, no, no},  // wake
    {5, no, no, no, no, no},  // pause
    {no, no, no, no, no, 3},  // paused
    {5, no, 5, 5, 5, no},     // destroy
    {4, 4, 4, 4, no, 4},      // fail
}};

}  // namespace

TEST_CASE("every event leads from every state where the table says, or nowhere") {
  for (int event = 0; event < k_events; ++event) {
    for (int state = 0; state < k_states; ++state) {
      const auto to = next(static_cast<State>(state), static_cast<Event>(event));
      INFO(name(static_cast<State>(state)) << " + " << name(static_cast<Event>(event)));
      const auto wanted =
          k_table.at(static_cast<std::size_t>(event)).at(static_cast<std::size_t>(state));
      CHECK((to ? static_cast<int>(*to) : no) == wanted);
    }
  }
}

TEST_CASE("a running GPU is never paused or destroyed") {
  CHECK(!next(State::running, Event::pause));
  CHECK(!next(State::running, Event::destroy));
}

TEST_CASE("a state is named by its word or its code") {
  for (int code = 0; code < k_states; ++code) {
    const auto state = static_cast<State>(code);
    CHECK(parse_state(name(state)) == state);
    CHECK(parse_state(std::to_string(code)) == state);
  }
  CHECK(!parse_state("asleep"));
  CHECK(!parse_state("6"));
}
