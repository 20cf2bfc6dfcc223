// One GPU's worker: loads models, holds sessions, speaks the worker protocol (docs/protocol.md) on
// its own port. It knows no store and no other worker. HTTP runs on the thread that calls run(),
// the nets on the inference engine's.
//
//   starting ──loaded──► idle, running ◄──wake── paused      draining: takes no new sessions
//      │                   │ └────pause────► stopping ─┘
//      │                   └──► failed: a wake or pause that did not work
//      └──► the process ends with the error
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "server/worker/engine.h"
#include "server/worker/job/renderers.h"
#include "server/worker/loaded_avatars.h"

namespace navtalk::server {

struct WorkerOptions {
  std::string listen = "127.0.0.1:0";
  std::string token{};  // without one only loopback is listened on
  std::string version{};
  std::string avatar{};     // of sessions that name none
  bool load_avatar = true;  // at the start; else when the first session asks for it
  int slots = 1;
  // A work loop that has made no heartbeat for so long is stuck.
  std::chrono::milliseconds stuck_after{5'000};
  AvatarBound avatars{};  // that no session uses
  // The worker ends when no gateway has spoken to it for so long; 0: never. Before the first
  // contact it waits `first_contact` from its start.
  std::chrono::milliseconds gateway_timeout{0}, first_contact{900'000};
  // How long sessions may go on after SIGTERM.
  std::chrono::milliseconds stop_notice{5'000};
  std::chrono::milliseconds peer_idle_timeout{40'000};  // of a session's peer, pings included
  RendererOptions renderers{};
};

class Worker {
 public:
  // Listens at once; models are loaded by run(). Error{usage}, Error{invalid} for options that do
  // not fit, Error{failed} when the address is taken.
  Worker(WorkerOptions options, const Engine& engine);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // "http://127.0.0.1:40123"
  std::string url() const;
  // Until a stop is requested (sessions get their notice) or no gateway needs it any more. Throws
  // what loading threw; DeviceLost once the sessions have left.
  void run(const std::stop_token& stop);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace navtalk::server
