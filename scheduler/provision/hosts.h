// Which hosts run local workers, and on which devices: each `serve` records it in the store, so that a
// scaler tick anywhere knows the local capacity and can write the intent for it. Several of one
// host may differ: each speaks for itself, and where both want a device the one that was there
// first says how many slots it gets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduler/pool/pool_store.h"

namespace navtalk {

// As one process of it sees it.
struct Host {
  std::string name;
  std::vector<std::string> devices;  // "cpu", "cuda:0"
  int slots_per_device = 1;
  std::string owner{};  // that process
  TimePoint until{};    // the record expires

  friend bool operator==(const Host&, const Host&) = default;
};

// A device on which a local worker can be started.
struct FreeDevice {
  std::string host, device;
  int slots = 1;

  friend bool operator==(const FreeDevice&, const FreeDevice&) = default;
};

// Those whose sign of life still holds, in the order in which they came; one whose process is dead has
// none. What another version wrote and we cannot read counts as none.
std::vector<Host> live_hosts(PoolStore& store);
// Writes the process's record into the store; it expires `alive` from now. Error{failed} when others
// change the list all the time.
void register_host(PoolStore& store, Host host, Duration alive);
// Removes it; the records of other processes of that host stay.
void unregister_host(PoolStore& store, const Host& host);

// Devices that no row uses, in order. A failed row keeps its device until it is destroyed.
std::vector<FreeDevice> free_devices(const std::vector<Host>& hosts, const std::vector<Gpu>& gpus);

}  // namespace navtalk
