#include "core/base/interrupt.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/guarded.h"
#include "core/base/unique_fd.h"

namespace navtalk {
namespace {

// Which signal ended this process' work is a fact about the process, like the signals themselves.
std::atomic<int> received_signal = 0;

// Signals this close together are one request: timeout(1) signals a process and then its group.
constexpr std::chrono::milliseconds k_one_request{300};

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

sigset_t only(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  return set;
}

// As if nobody had blocked it.
void end_by(int signal) {
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(signal, &by_default, nullptr);
  const sigset_t set = only(signal);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(signal);
}

}  // namespace

struct SignalStop::State {
  UniqueFd signals, wake;
  sigset_t old_mask = {};
  struct sigaction old_interrupt = {}, old_terminate = {};
  bool hangup_ignored = false;  // when the process started
  Guarded<std::function<void()>> on_hangup;
  std::stop_source stop;
  std::chrono::steady_clock::time_point asked_at;  // the watching thread's own
  std::jthread thread;

  void watch(const std::stop_token& ending) {
    const std::stop_callback leave(ending, [this] { ::eventfd_write(wake.value(), 1); });
    pollfd fds[] = {{signals.value(), POLLIN, 0}, {wake.value(), POLLIN, 0}};
    while (!ending.stop_requested()) {
      if (::poll(fds, 2, -1) < 0) continue;
      signalfd_siginfo info = {};
      if ((fds[0].revents & POLLIN) == 0) continue;
      if (::read(signals.value(), &info, sizeof info) == sizeof info)
        act_on(static_cast<int>(info.ssi_signo));
    }
  }

  void hang_up() {
    const bool called = on_hangup.with([](const std::function<void()>& callback) {
      if (callback) callback();
      return static_cast<bool>(callback);
    });
    if (!called && !hangup_ignored) end_by(SIGHUP);
  }

  void act_on(int signal) {
    if (signal == SIGHUP) return hang_up();
    const auto now = std::chrono::steady_clock::now();
    if (received_signal.exchange(signal) == 0) {
      asked_at = now;
      stop.request_stop();
    } else if (now - asked_at > k_one_request) {
      // The first asks politely; whoever asks again does not want to wait.
      ::_exit(128 + signal);
    }
  }
};

SignalStop::SignalStop() : state_(std::make_unique<State>()) {
  received_signal = 0;
  // A background job of a shell script starts with SIGINT ignored; `kill -INT` shall work there
  // too.
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(SIGINT, &by_default, &state_->old_interrupt);
  ::sigaction(SIGTERM, &by_default, &state_->old_terminate);
  struct sigaction at_hangup = {};
  ::sigaction(SIGHUP, nullptr, &at_hangup);
  state_->hangup_ignored = at_hangup.sa_handler == SIG_IGN;
  sigset_t set = stop_signals();
  sigaddset(&set, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &set, &state_->old_mask);
  state_->signals.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  state_->wake.reset(::eventfd(0, EFD_CLOEXEC));
  NAVTALK_CHECK(state_->signals && state_->wake);
  State* state = state_.get();
  state_->thread = std::jthread([state](const std::stop_token& ending) { state->watch(ending); });
}

SignalStop::~SignalStop() {
  state_->thread.request_stop();
  state_->thread.join();
  ::sigaction(SIGINT, &state_->old_interrupt, nullptr);
  ::sigaction(SIGTERM, &state_->old_terminate, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &state_->old_mask, nullptr);
}

void SignalStop::on_hangup(std::function<void()> callback) {
  state_->on_hangup.with([&](std::function<void()>& current) { current = std::move(callback); });
}

std::stop_token SignalStop::token() const { return state_->stop.get_token(); }

void throw_if_stopped(const std::stop_token& token) {
  if (!token.stop_requested()) return;
  if (received_signal == SIGTERM) throw Error(Code::terminated, "terminated");
  throw Error(Code::interrupted, "interrupted");
}

int stop_status(const std::stop_token& token) {
  if (!token.stop_requested()) return 0;
  return exit_status(received_signal == SIGTERM ? Code::terminated : Code::interrupted);
}

}  // namespace navtalk
