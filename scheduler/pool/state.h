// The state machine of one GPU. Pure: no time, no input or output.
//
//                 ready            session_opened
//   starting ───────────► idle ◄──────────────────► running
//      ▲                   │ │      emptied
//      │ wake        pause │ │ destroy
//      │                   ▼ ▼            gone
//    paused ◄────────── stopping ─────────────► (the row is removed)
//             paused       ▲
//                          │ destroy
//   any ── fail ──► failed ┘      failed ── ready ──► idle: a GPU that answers again (outage.h)
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace navtalk {

// The codes are part of the interface: operators' scripts and the store read them.
enum class State : std::uint8_t {
  idle = 0,      // the worker answers, no session
  running = 1,   // at least one session
  starting = 2,  // being created or woken; not yet proven ready
  paused = 3,    // kept, costs little, can be woken
  failed = 4,    // broken; held briefly, then destroyed (external: probed for ever)
  stopping = 5,  // being paused or destroyed; may not be claimed
};
inline constexpr int k_states = 6;

enum class Event : std::uint8_t {
  ready,           // proven ready from outside
  session_opened,  // a slot was claimed
  emptied,         // the last session ended
  wake,            // asked to wake
  pause,           // asked to pause
  paused,          // is paused
  destroy,         // asked to be destroyed
  fail,            // broken, whatever it was doing
};
inline constexpr int k_events = 8;

// The state after the event; nullopt where the event cannot happen.
constexpr std::optional<State> next(State state, Event event) {
  using enum State;
  switch (event) {
    case Event::ready:
      return state == starting || state == failed ? std::optional(idle) : std::nullopt;
    case Event::session_opened:
      return state == idle || state == running ? std::optional(running) : std::nullopt;
    case Event::emptied:
      return state == running ? std::optional(idle) : std::nullopt;
    case Event::wake:
      return state == paused ? std::optional(starting) : std::nullopt;
    case Event::pause:
      return state == idle ? std::optional(stopping) : std::nullopt;
    case Event::paused:
      return state == stopping ? std::optional(paused) : std::nullopt;
    case Event::destroy:
      return state == running || state == stopping ? std::nullopt : std::optional(stopping);
    case Event::fail:
      return state == failed ? std::nullopt : std::optional(failed);
  }
  return std::nullopt;
}

std::string_view name(State state);
std::string_view name(Event event);
// The state of that name or code ("idle", "0").
std::optional<State> parse_state(std::string_view text);

}  // namespace navtalk
