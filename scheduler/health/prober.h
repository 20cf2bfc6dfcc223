// Asks the workers whether they are well, and lets the rows say so:
//
//   starting           two answers in a row, and a WebSocket gets through: ready
//   starting           wants another token or protocol, twice: failed
//   idle, running      silent for the grace time, three times in a row: failed
//   starting, external the same: nobody starts it, so it is not about to come
//   failed, external   answers again: ready
//
// Two URLs may lead to one worker, which says so by its instance: the second row of it does not
// become ready, or fails. A registered row is second to a local or cloud one, one that does not
// serve to one that does, then the younger to the older. A registered worker becomes ready only
// when all who serve have answered since it was first heard: until then any of them may be the same
// one, restarted.
//
// Misses are counted in the row, so that whoever asks next goes on counting; the last answer of one
// that starts is its last error. Those that serve and those that do not are asked by threads of
// their own: a dozen dead pods must not hold up the news of a living one.
//
// Local workers listen on loopback, so each host asks its own; all others are asked by the process
// that holds the scaler's lease.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/channel.h"
#include "core/base/guarded.h"
#include "scheduler/health/worker_client.h"
#include "scheduler/pool/pool_store.h"

namespace navtalk {

struct ProberOptions {
  std::string who;  // this_process()
  std::string host;
  std::string token;  // that workers ask for
  Duration starting_every = std::chrono::milliseconds(500);
  Duration running_every = std::chrono::seconds(5);
  Duration failed_every = std::chrono::seconds(10);
  Duration grace = std::chrono::seconds(15);
  WorkerClientOptions client{};
  int threads = 4;  // for those that serve, and as many for the others
};

class Prober {
 public:
  Prober(PoolStore& store, ProberOptions options);
  ~Prober();

  // Hands every row whose turn it is to a thread. `leading`: this process holds the scaler's lease.
  void step(bool leading);
  // True once nobody is being asked; false after that time, or when a stop is asked.
  bool wait_idle(Duration at_most, const std::stop_token& stop);

 private:
  // What this process has seen of one GPU.
  struct Record {
    TimePoint asked{};
    bool under_way = false;
    int good = 0, bad = 0;   // in a row; good: of one instance
    std::string instance{};  // the last that answered there
    TimePoint since{};       // the first answer of that instance
    TimePoint answered{};    // the last good one
  };
  struct Verdict {
    std::string why{};     // empty: it is well
    bool refuses = false;  // another token or protocol: waiting does not help
    bool loads = false;    // says itself that it is starting
    int slots = 0;
    std::string instance{};
  };

  bool due(const Gpu& gpu, bool leading, TimePoint now) const;
  void forget_removed(const PoolView& view);
  void run(Channel<Gpu>& work, const std::stop_token& stop);
  Verdict ask(const Gpu& gpu, WorkerClient& client, const std::stop_token& stop) const;
  void probe(const Gpu& gpu, WorkerClient& client, const std::stop_token& stop);
  void well(const Gpu& gpu, int slots, int in_row, WorkerClient& client,
            const std::stop_token& stop);
  void unwell(const Gpu& gpu, const Verdict& verdict, int in_row);
  void fail(const Gpu& row, const std::string& why);
  void prove(const Gpu& gpu, int slots, TimePoint now);
  Record note(const Gpu& gpu, const Verdict& verdict, TimePoint asked);
  // --- one worker, several rows: twins.cpp
  std::optional<std::string> why_second(const Gpu& gpu) const;
  bool heard_all_who_serve(const Gpu& gpu) const;
  void refuse_second(const Gpu& gpu, const std::string& why);

  PoolStore& store_;
  ProberOptions options_;
  Guarded<std::map<GpuId, Record>> records_;
  std::mutex proving_;  // one at a time: two rows of one worker must see each other
  std::condition_variable_any idle_;
  std::mutex idle_mutex_;
  Channel<Gpu> serving_, others_;
  std::vector<std::jthread> threads_;
};

}  // namespace navtalk
