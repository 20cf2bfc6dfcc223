#include "cmd/bench/serve/phases.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <memory>
#include <utility>

#include "core/base/interrupt.h"
#include "server/http/io_loop.h"
#include "server/http/signal.h"

namespace navtalk::cmd {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

// A user may wait for a slot, and a worker may load its models.
constexpr auto k_open_within = 150s, k_finish_within = 15s;

using Clients = std::vector<std::unique_ptr<LiveClient>>;
using OneClient = std::function<asio::awaitable<void>(LiveClient&, std::size_t number)>;

// Everything that a phase needs while it runs. Clients end after the coroutines that refer to them, and
// before the loop.
class Loop {
 public:
  Loop(std::size_t count, const ClientOptions& options, const Speech& speech) {
    for (std::size_t i = 0; i < count; ++i)
      clients_.push_back(std::make_unique<LiveClient>(io_.get_executor(), options, speech));
  }

  Clients& clients() { return clients_; }

  void run(asio::awaitable<void> work, const std::stop_token& stop) {
    const auto ended = [this](const std::exception_ptr& problem) {
      problem_ = problem;
      io_.stop();
    };
    asio::co_spawn(io_, std::move(work), ended);
    const std::stop_callback on_stop(stop, [this] { io_.stop(); });
    io_.run();
    throw_if_stopped(stop);
    if (problem_) std::rethrow_exception(problem_);
  }

  std::vector<ClientResult> take_results() {
    std::vector<ClientResult> results;
    for (const auto& client : clients_) results.push_back(std::move(client->result()));
    return results;
  }

 private:
  server::IoLoop io_;
  std::exception_ptr problem_;
  Clients clients_;
  server::CoroutineScope scope_{io_};
};

// All at once, until each has done it.
asio::awaitable<void> for_all(Clients& clients, OneClient work) {
  const auto executor = co_await asio::this_coro::executor;
  server::Signal one_ended(executor);
  std::size_t running = clients.size();
  std::exception_ptr problem;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    asio::co_spawn(executor, work(*clients[i], i), [&](const std::exception_ptr& failed) {
      if (failed) problem = failed;
      --running;
      one_ended.notify();
    });
  }
  while (running > 0) co_await one_ended.wait();
  if (problem) std::rethrow_exception(problem);
}

asio::awaitable<void> open_session(LiveClient& client) { co_await client.open(k_open_within); }

// Clients send at different moments, as people do: the n-th one a part of a message later.
asio::awaitable<void> play_speech(LiveClient& client, std::chrono::duration<double> time,
                                  std::chrono::nanoseconds delay) {
  if (client.over()) co_return;
  client.begin_measuring();
  server::Signal never(co_await asio::this_coro::executor);
  co_await never.wait(server::Signal::Clock::now() + delay);
  co_await client.play(time);
  co_await client.finish_playing(k_finish_within);
}

asio::awaitable<void> interrupt_often(LiveClient& client, int times) {
  for (int i = 0; i < times; ++i) {
    if (client.over()) co_return;
    const bool done = co_await client.interrupt();
    if (!done) co_return;
  }
}

asio::awaitable<void> all_live(Clients& clients, const LivePhase& phase, const Moments& moments) {
  OneClient opens = [](LiveClient& client, std::size_t) { return open_session(client); };
  co_await for_all(clients, std::move(opens));
  if (moments.opened) moments.opened();
  const auto step = std::chrono::nanoseconds(phase.client.message) / clients.size();
  OneClient plays = [&](LiveClient& client, std::size_t number) {
    return play_speech(client, phase.duration, number * step);
  };
  co_await for_all(clients, std::move(plays));
  if (moments.played) moments.played();
  OneClient interrupts = [&](LiveClient& client, std::size_t) {
    return interrupt_often(client, phase.interrupts);
  };
  co_await for_all(clients, std::move(interrupts));
  OneClient closes = [](LiveClient& client, std::size_t) { return client.closed(); };
  co_await for_all(clients, std::move(closes));
}

asio::awaitable<void> one_after_the_other(Clients& clients) {
  for (const auto& client : clients) {
    co_await client->open(k_open_within);
    co_await client->closed();
  }
}

}  // namespace

std::vector<ClientResult> run_live(const LivePhase& phase, const Speech& speech,
                                   const Moments& moments, const std::stop_token& stop) {
  Loop loop(static_cast<std::size_t>(phase.sessions), phase.client, speech);
  loop.run(all_live(loop.clients(), phase, moments), stop);
  return loop.take_results();
}

std::vector<ClientResult> run_connects(int count, const ClientOptions& client, const Speech& speech,
                                       const std::stop_token& stop) {
  Loop loop(static_cast<std::size_t>(count), client, speech);
  loop.run(one_after_the_other(loop.clients()), stop);
  return loop.take_results();
}

}  // namespace navtalk::cmd
