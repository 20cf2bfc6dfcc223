// Holds the rows against what a cloud provider says that it runs, so that nothing is paid for and
// not recorded, and nothing recorded that is gone. At start, every minute, and more often while the
// outcome of a create is not known. One at a time: for the cloud the holder of the scaler's lease
// runs it, for local workers their host.
//
//   the provider lists                             then
//   the id of a row, or its name without an id:
//     the row waits for its create                   its id is stored (adopted)
//     the row is paused, the place runs              the row starts again
//     the row is in use, the place stopped or broke  failed
//     it was started in another way than now         destroyed, or drained first when it has
//                                                    sessions; one at a time, and none while
//                                                    another starts or ends
//   this store's id without a row: an orphan, or the second place of a create answered twice
//     twice, and for the grace time                  a row is made for it: used or destroyed
//   the pool's name with another store's id          reported, never touched
//   not listed:
//     create not known                               after `settle`: failed, nothing was made
//     row with an id                                 older than `settle`, twice: failed; removed if
//                                                    it was being destroyed
//
// A failed or partial list changes nothing. What was seen once is remembered in the store, so that
// every pass counts, whichever process makes it.
#pragma once

#include <string>

#include "scheduler/pool/identity.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/provision/observations.h"
#include "scheduler/provision/provider.h"

namespace navtalk {

struct ReconcilerOptions {
  PoolIdentity identity;
  std::string who;
  std::string host{};  // not empty: only rows that this host supervises (local workers)
  Duration orphan_grace = std::chrono::seconds(60);
  Duration settle = std::chrono::seconds(90);  // a created place may be missing from lists so long
};

class Reconciler {
 public:
  Reconciler(PoolStore& store, Provider& provider, ReconcilerOptions options);

  // One pass. False: the list was not complete, and nothing was changed.
  bool pass(const std::stop_token& stop);
  // When the next pass is due: soon while something is not settled.
  Duration next_pass() const;

 private:
  void remember();
  void match(const Gpu& gpu, const Instance& instance);
  void adopt(const Gpu& gpu, const Instance& instance);
  void missing(const Gpu& gpu);
  void replace(const Gpu& gpu, const std::string& why);
  void keep(const Gpu& gpu);
  void stranger(const Instance& instance);
  void orphan(const Instance& instance, const Gpu* twin, const std::stop_token& stop);
  void fail(const Gpu& gpu, const std::string& why, bool gone = false);  // gone: costs nothing
  bool unsettled(const Gpu& gpu) const;

  PoolStore& store_;
  Provider& provider_;
  ReconcilerOptions options_;
  std::string setting_;                // where the store keeps what was seen
  std::optional<std::string> stored_;  // what it held before this pass
  Sightings before_, seen_;            // what was seen until this pass, and in it
  TimePoint looked_{}, now_{};         // before this pass asked for the list, and after
  bool restless_ = true;
  bool changing_ = false;  // a place starts or ends: no other one is replaced
};

}  // namespace navtalk
