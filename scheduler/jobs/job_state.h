// The state machine of one job. Pure: no time, no input or output.
//
//            release            claim            finish
//   queued ──────────► released ─────► running ──────────► done
//     ▲                   ▲              │ │ │
//     │                   └──────────────┘ │ └── refuse ──► failed: the input is at fault
//     │                 retry, lose, yield └── exhaust ───► dead: retries exhausted
//     │
//     └── resubmit ── failed, dead, cancelled
//
//   queued, released, running ── cancel ──► cancelled
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace navtalk {

// The codes stand in the store, the names in answers to users.
enum class JobState : std::uint8_t {
  queued = 0,    // submitted
  released = 1,  // its tenant may have it done now; a worker may claim it
  running = 2,   // a worker holds its lease
  done = 3,
  failed = 4,     // the input is at fault: another try would end in the same way
  dead = 5,       // every try that it may have has failed, or was lost
  cancelled = 6,  // by who submitted it
};
inline constexpr int k_job_states = 7;

enum class JobEvent : std::uint8_t {
  submit = 0,     // the row was made
  release = 1,    // the tenant's budget allows it
  claim = 2,      // a worker took it
  segment = 3,    // the worker finished a segment of it
  finish = 4,     // its result is there
  refuse = 5,     // the input cannot be rendered
  retry = 6,      // a try failed, another follows
  exhaust = 7,    // the last try failed, or it was lost too often
  lose = 8,       // its lease has expired, or its worker has ended
  yield = 9,      // its worker stops, and has not failed
  cancel = 10,    // no longer wanted
  resubmit = 11,  // wanted again
  intend = 12,    // its result is about to appear
  promise = 13    // it was told another finish time
};
inline constexpr int k_job_events = 14;

// The state after the event; nullopt where the event cannot happen. A row begins with submit, which
// happens to none that is there.
constexpr std::optional<JobState> next(JobState state, JobEvent event) {
  using enum JobState;
  const auto from = [state](JobState needed, JobState to) {
    return state == needed ? std::optional(to) : std::nullopt;
  };
  switch (event) {
    case JobEvent::submit:
      return std::nullopt;
    case JobEvent::release:
      return from(queued, released);
    case JobEvent::claim:
      return from(released, running);
    case JobEvent::segment:
    case JobEvent::intend:
      return from(running, running);
    case JobEvent::finish:
      return from(running, done);
    case JobEvent::refuse:
      return from(running, failed);
    case JobEvent::retry:
    case JobEvent::lose:
    case JobEvent::yield:
      return from(running, released);
    case JobEvent::exhaust:
      return from(running, dead);
    case JobEvent::promise:
      return state <= running ? std::optional(state) : std::nullopt;
    case JobEvent::cancel:
      return state <= running ? std::optional(cancelled) : std::nullopt;
    case JobEvent::resubmit:
      return state > done ? std::optional(queued) : std::nullopt;
  }
  return std::nullopt;
}

// No event but resubmit changes it any more.
constexpr bool is_final(JobState state) { return state >= JobState::done; }

std::string_view name(JobState state);
std::string_view name(JobEvent event);
// The state of that name.
std::optional<JobState> parse_job_state(std::string_view text);

}  // namespace navtalk
