// The parts of a run of `bench serve`, each a number of clients on an I/O loop of its own. Blocking;
// a stop request ends them with Error{interrupted} or Error{terminated}.
#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "cmd/bench/serve/live_client.h"

namespace navtalk::cmd {

// What is called while clients are in their sessions, on the loop's thread: it holds them up.
struct Moments {
  std::function<void()> opened{};  // all that could be
  std::function<void()> played{};  // all sound was sent, and has come back
};

struct LivePhase {
  int sessions = 1;
  std::chrono::duration<double> duration{20};
  int interrupts = 0;  // of each session, after that
  ClientOptions client{};
};
// Sessions at once: all open, all play, all are interrupted, all end. One result of each.
std::vector<ClientResult> run_live(const LivePhase& phase, const Speech& speech,
                                   const Moments& moments, const std::stop_token& stop);

// One session after the other, each ended with its first picture.
std::vector<ClientResult> run_connects(int count, const ClientOptions& client, const Speech& speech,
                                       const std::stop_token& stop);

}  // namespace navtalk::cmd
