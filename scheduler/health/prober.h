// Asks the workers for their health, and changes the rows by their answers:
//
//   starting           two good answers in a row, and a WebSocket gets through: ready
//   starting           refuses the token or the protocol, twice: failed
//   idle, running      no good answer three times in a row and for the grace time: failed
//   starting, external the same: no provider starts it, so it is not about to come
//   failed, external   good answers again: ready, unless it is blamed for its sessions
//                      (scheduler/pool/session_faults.h)
//
// Two URLs may lead to one worker, which shows in the instance that it reports: the duplicate row
// does not become ready, or fails. A registered row is the duplicate of a local or cloud one, one
// that does not serve of one that does, then the younger of the older. A registered worker becomes
// ready only when every serving worker has answered since its own first answer: until then any of
// them may be the same worker, restarted.
//
// Misses are counted in the row, so that any process continues the count; the last answer of a
// starting worker is its row's last error. Serving workers have threads of their own: a dozen dead
// pods must not delay the probes of living ones.
//
// Local workers listen on loopback, so each host asks its own; all others are asked by the process
// that holds the scaler's lease.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "core/base/guarded.h"
#include "scheduler/health/worker_client.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/pool/row_workers.h"

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
  int threads = 4;  // for serving workers, and as many for the others
};

class Prober {
 public:
  Prober(PoolStore& store, ProberOptions options);
  ~Prober();

  // Hands every row that is due to a thread. `leading`: this process holds the scaler's lease.
  void step(bool leading);
  // True once no probe is under way; false after that time, or when a stop is asked.
  bool wait_idle(Duration at_most, const std::stop_token& stop);

 private:
  // What this process has seen of one GPU.
  struct Record {
    TimePoint asked{};
    int good = 0, bad = 0;   // answers in a row; good: of one instance
    std::string instance{};  // the last that answered there
    TimePoint since{};       // the first answer of that instance
    TimePoint answered{};    // the last good one
  };
  struct Verdict {
    std::string why{};     // empty: it is healthy
    bool refuses = false;  // another token or protocol: waiting does not help
    bool loads = false;    // reports that it is starting
    int slots = 0;
    std::string instance{};
  };

  bool due(const Gpu& gpu, bool leading, TimePoint now) const;
  void forget_removed(const PoolView& view);
  RowWorkers::Work make_work();
  Verdict ask(const Gpu& gpu, WorkerClient& client, const std::stop_token& stop) const;
  void probe(const Gpu& gpu, WorkerClient& client, const std::stop_token& stop);
  void handle_good(const Gpu& gpu, int slots, int in_row, WorkerClient& client,
                   const std::stop_token& stop);
  void handle_bad(const Gpu& gpu, const Verdict& verdict, int in_row);
  void fail(const Gpu& row, const std::string& why);
  void prove(const Gpu& gpu, int slots, TimePoint now);
  Record note(const Gpu& gpu, const Verdict& verdict, TimePoint asked);
  // --- one worker, several rows: duplicate_workers.cpp
  std::optional<std::string> why_duplicate(const Gpu& gpu) const;
  bool all_serving_answered(const Gpu& gpu) const;
  void refuse_duplicate(const Gpu& gpu, const std::string& why);

  PoolStore& store_;
  ProberOptions options_;
  Guarded<std::map<GpuId, Record>> records_;
  std::mutex proving_;           // one at a time: two rows of one worker must see each other
  RowWorkers serving_, others_;  // last: their threads use the rest
};

}  // namespace navtalk
