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
//     its price is another one                       stored: it counts at once, and GPUs that the cap
//                                                    leaves no room for are given up (../over_cap.h)
//     it was started with other settings             destroyed, or drained first when it has
//                                                    sessions; one at a time, and none while
//                                                    another starts or ends
//   this store's id without a row: an orphan, or the duplicate of a create answered twice
//     twice, and for the grace time                  a row is made for it: used, or destroyed, also
//                                                    if its price breaks the cap on spending
//   the pool's name with another store's id          reported, never touched
//   not listed:
//     create not known                               after the window: failed, nothing was made
//     row with an id, older than the window, and
//       its worker answers                             it exists: the list is short
//       the provider finds its id                      the same; treated as listed
//       the provider does not answer                   nothing is concluded
//       the provider does not know its id              twice: failed, and costs nothing any more;
//                                                      removed if it was being destroyed
//
// A failed or partial list changes nothing; where several clouds are listed, nothing of those whose list
// failed, and no row without an id is taken for one whose create had no effect. A successful list may still be short: absence counts only
// together with the answer about the id. A pass asks for a few ids only; other rows wait for the next
// one. While rows are missing that exist, or may exist, no create is taken for ineffective either.
// Observations are kept in the store, so that every pass counts, whichever process makes it.
#pragma once

#include <string>
#include <vector>

#include "scheduler/pool/identity.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/pool/settings.h"
#include "scheduler/provision/provider.h"
#include "scheduler/provision/reconciler/lookups.h"
#include "scheduler/provision/reconciler/observations.h"

namespace navtalk {

struct ReconcilerOptions {
  PoolIdentity identity;
  std::string who;
  std::string host{};           // not empty: only rows that this host supervises (local workers)
  double max_usd_per_hour = 0;  // the cap on spending; 0: none
  Duration orphan_grace = std::chrono::seconds(60);
  Duration consistency_window =
      std::chrono::seconds(90);  // a created instance may be missing from lists so long
  // A worker that answered so short a time before exists, whatever its provider says. As long as the
  // prober takes to notice that one is dead.
  Duration answered_within = std::chrono::seconds(15);
  LookupLimits lookups{};  // of one pass
};

class Reconciler {
 public:
  Reconciler(PoolStore& store, Provider& provider, ReconcilerOptions options);

  // One pass. False: the list was not complete, or it lacks rows that exist or may exist.
  bool pass(const std::stop_token& stop);
  // Why the last pass had no complete list; empty: it had one.
  const std::string& failed_list() const { return failed_list_; }
  // Has something happened at the provider that a pass would find, since the last call of this?
  bool provider_changed() { return provider_.changed(); }
  // When the next pass is due: soon while something is not settled.
  Duration next_pass() const;

 private:
  Setting<Observations> setting() const;
  void remember();
  void match(const Gpu& gpu, const Instance& instance);
  void adopt(const Gpu& gpu, const Instance& instance);
  bool match_missing(const std::vector<const Gpu*>& missing, const std::stop_token& stop);
  bool ask_for(const std::vector<const Gpu*>& missing, const std::stop_token& stop);
  bool answers(const Gpu& gpu) const;
  bool listed(const Gpu& gpu) const;
  void match_gone(const Gpu& gpu);
  void match_unsettled(const Gpu& gpu, bool whole);
  void carry_over(const Gpu& gpu);
  void report_short(const Gpu& gpu, const std::string& why);
  void replace(const Gpu& gpu, const std::string& why);
  void keep(const Gpu& gpu);
  void report_foreign(const Instance& instance);
  void orphan(const Instance& instance, const Gpu* duplicate_of, const std::stop_token& stop);
  void fail(const Gpu& gpu, const std::string& why, bool gone = false);  // gone: costs nothing
  bool unsettled(const Gpu& gpu) const;
  double price(const Instance& instance, double otherwise) const;

  PoolStore& store_;
  Provider& provider_;
  ReconcilerOptions options_;
  std::string setting_name_;               // where the store keeps what was observed
  Setting<Observations>::Known stored_{};  // what it held before this pass
  Observations before_, seen_;             // observed until this pass, and in it
  TimePoint listed_at_{}, now_{};          // before this pass asked for the list, and after
  std::string failed_list_{};
  std::vector<Origin> without_{};  // of this pass: clouds whose list failed
  bool check_soon_ = true;
  bool short_reported_ = false;
  bool changing_ = false;  // an instance starts or stops: no other one is replaced
};

}  // namespace navtalk
