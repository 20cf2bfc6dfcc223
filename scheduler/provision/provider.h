// Something that can create, wake, pause, destroy and list GPUs: local child processes
// (scheduler/provision/local/), registered workers (external_provider.h) and Runpod (runpod/). Calls
// block, for minutes at worst, and end early on a stop request. Thread-safe: several operations may
// run at once.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "scheduler/pool/gpu.h"
#include "scheduler/pool/origin.h"

namespace navtalk {

// A GPU as its provider sees it.
struct Instance {
  enum class Status : std::uint8_t { starting, running, stopped, failed, gone, unknown };
  std::string provider_id;
  std::string name{};  // as given at create
  Status status = Status::unknown;
  std::string url{};  // worker's base URL; empty: not known (yet)
  std::string device{};
  double usd_per_hour = 0;
  bool price_expected = false;  // the provider has not told it: that is what it should cost
  std::string detail{};         // the provider's own word, for people
  // Not empty: it was started in another way than it would be now, and how.
  std::string outdated{};
  // Since it was created, at most, where the provider says so; only for the ledger.
  std::optional<Duration> age{};
  bool age_sure = false;  // by the provider's clock alone, not by two wall clocks
};

struct Done {
  std::optional<Instance> instance{};  // as it is now, where the provider says it
  // Destroy: the provider does not know the instance, which proves nothing while it is young.
  bool unknown = false;
};
// No capacity now: try another source, or later.
struct NoCapacity {
  std::string message;
  Duration retry_after{};
};
// Will not work until a person acts (key, balance, a rule of ours): creation pauses pool-wide when
// `account` is set.
struct Refused {
  std::string message;
  bool account = false;
};
// Tried and did not work; the instance may exist and be broken.
struct Failure {
  std::string message;
  bool nothing_made = false;  // create: it was not asked for, so no instance exists
};
// The call may or may not have had its effect: list before asking again.
struct UnknownOutcome {
  std::string message;
};
using Outcome = std::variant<Done, NoCapacity, Refused, Failure, UnknownOutcome>;

struct Listing {
  // Those of this pool, under whatever name, and perhaps others'.
  std::vector<Instance> instances;
  bool complete = false;  // false: it broke off
  std::string message{};  // why it is not complete
  // Not complete only because these clouds' lists are not, of which it holds nothing. None: any of the
  // instances may lack.
  std::vector<Origin> without{};
};

// The provider's answer about one instance by its id: the instance, or one of these.
//
// It knows no such instance, or says that it has ended. For a while after a create it may say so of
// one that exists.
struct NotFound {};
// Proves nothing.
struct NoAnswer {
  std::string message;
};
using Lookup = std::variant<Instance, NotFound, NoAnswer>;

class Provider {
 public:
  virtual ~Provider() = default;

  virtual Source source() const = 0;
  // Makes a worker under gpu.name with gpu.slots. Done carries provider_id. Never repeats a call
  // whose outcome is unknown.
  virtual Outcome create(const Gpu& gpu, const std::stop_token& stop) = 0;
  // These three are safe to repeat. Destroying what is gone is Done.
  virtual Outcome wake(const Gpu& gpu, const std::stop_token& stop) = 0;
  virtual Outcome pause(const Gpu& gpu, const std::stop_token& stop) = 0;
  virtual Outcome destroy(const Gpu& gpu, const std::stop_token& stop) = 0;
  // Even a complete list may lack instances that exist: before one is taken for gone, find() asks for it.
  virtual Listing list(const std::stop_token& stop) = 0;
  // The instance gpu.provider_id, which is not empty. Asked once: the caller asks again later.
  virtual Lookup find(const Gpu& gpu, const std::stop_token& stop) = 0;
  // Called about every second by one process of the pool, for providers that have to know which of
  // their GPUs have sessions. `gpus`: every row, those of other sources too.
  virtual void attend(const std::vector<Gpu>&, const std::stop_token&) {}
  // Called about every second by the process that lists. True: since the last call something happened
  // that the list shows, so that listing need not wait for its turn. Blocks for no call.
  virtual bool changed() { return false; }
  // Has the instance of that failed row ended for certain, and may another one be made in its place now?
  // `sole`: no other living process of the row's host makes instances. Quick. Error{failed} when it cannot be told.
  virtual bool replaceable(const Gpu&, bool /*sole*/) { return false; }
  // What it shares with other GPUs of the provider, and what is given back when the last one leaves, such
  // as a node of a cluster; empty: nothing that is known.
  virtual std::string place(const Gpu&) const { return ""; }
  // How many more GPUs it could make now as far as it knows (local: free devices); the price that
  // the next one is expected to have.
  virtual int creatable(const std::vector<Gpu>& existing) const = 0;
  virtual double expected_usd_per_hour() const = 0;
};

// That source's provider, or nullptr.
inline const Provider* provider_of(const std::vector<Provider*>& providers, Source source) {
  for (const Provider* provider : providers) {
    if (provider->source() == source) return provider;
  }
  return nullptr;
}

}  // namespace navtalk
