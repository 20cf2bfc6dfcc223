// Compares the rows with what a provider lists, so that nothing is paid for without a row, and no
// row outlives its instance. Runs at start, every minute, and more often while the outcome of a
// create is not known. One at a time: for the cloud the holder of the scaler's lease runs it, for
// local workers their host.
//
//   the provider lists                             then
//   the id of a row, or its name without an id:
//     the row waits for its create                   its id is stored (adopted); destroyed again if
//                                                    its price breaks the cap on spending
//     the row has no address, the instance has       stored; looked for soon while it starts
//     the row is paused, the instance runs           the row starts again
//     the row is in use, its instance stopped        failed
//     it was started with other settings             destroyed, or drained first when it has
//                                                    sessions; one at a time, and none while
//                                                    another starts or ends
//   this store's id without a row: an orphan, or the duplicate of a create answered twice
//     twice, and for the grace time                  a row is made for it: used, or destroyed, also
//                                                    if its price breaks the cap on spending
//   the pool's name with another store's id          reported, never touched
//   not listed:
//     create not known                               after the window: failed, nothing was made
//     row with an id                                 older than the window, twice: failed; removed if
//                                                    it was being destroyed
//
// A failed or partial list changes nothing. Observations are kept in the store, so that every pass
// counts, whichever process makes it.
#pragma once

#include <string>

#include "scheduler/pool/identity.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/pool/settings.h"
#include "scheduler/provision/observations.h"
#include "scheduler/provision/provider.h"

namespace navtalk {

struct ReconcilerOptions {
  PoolIdentity identity;
  std::string who;
  std::string host{};           // not empty: only rows that this host supervises (local workers)
  double max_usd_per_hour = 0;  // the cap on spending; 0: none
  Duration orphan_grace = std::chrono::seconds(60);
  Duration consistency_window =
      std::chrono::seconds(90);  // a created place may be missing from lists so long
};

class Reconciler {
 public:
  Reconciler(PoolStore& store, Provider& provider, ReconcilerOptions options);

  // One pass. False: the list was not complete, and nothing was changed.
  bool pass(const std::stop_token& stop);
  // When the next pass is due: soon while something is not settled.
  Duration next_pass() const;

 private:
  Setting<Observations> setting() const;
  void remember();
  void match(const Gpu& gpu, const Instance& instance);
  void adopt(const Gpu& gpu, const Instance& instance);
  void match_missing(const Gpu& gpu);
  void replace(const Gpu& gpu, const std::string& why);
  void keep(const Gpu& gpu);
  void report_foreign(const Instance& instance);
  void orphan(const Instance& instance, const Gpu* duplicate_of, const std::stop_token& stop);
  void fail(const Gpu& gpu, const std::string& why, bool gone = false);  // gone: costs nothing
  bool unsettled(const Gpu& gpu) const;

  PoolStore& store_;
  Provider& provider_;
  ReconcilerOptions options_;
  std::string setting_name_;               // where the store keeps what was observed
  Setting<Observations>::Known stored_{};  // what it held before this pass
  Observations before_, seen_;             // observed until this pass, and in it
  TimePoint listed_at_{}, now_{};          // before this pass asked for the list, and after
  bool check_soon_ = true;
  bool changing_ = false;  // an instance starts or stops: no other one is replaced
};

}  // namespace navtalk
