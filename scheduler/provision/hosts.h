// Which hosts run local workers, and on which devices: each `serve` records it in the store, so that a
// scaler tick anywhere knows the local capacity and can write the intent for it. Several of one
// host may differ: each speaks for itself, and where both want a device the one that was there
// first says how many slots it gets.
//
// Rows of local workers belong to a host by its name, and their processes are looked for in /proc. So
// one name may be used by one machine or container at a time: its record keeps the others out.
#pragma once

#include <optional>
#include <stop_token>
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

// How long a record holds, and how often its process renews it. A process elsewhere, on another
// machine or in another container, that has not renewed it for k_host_silence has ended.
inline constexpr Duration k_host_record = std::chrono::seconds(60);
inline constexpr Duration k_host_renewal = std::chrono::seconds(10);
inline constexpr Duration k_host_silence = std::chrono::seconds(30);

// Writes the process's record into the store; it expires `alive` from now. If a process elsewhere has
// the host's name, and one of the two has devices, writes nothing and returns that one's record.
// Error{failed} when others change the list all the time.
std::optional<Host> register_host(PoolStore& store, Host host, Duration alive = k_host_record);
// The same at the start of a process. A process elsewhere may have been killed, or its machine
// started again, so this waits for k_host_silence; Error{invalid} if it renews its record meanwhile.
// False: a stop was requested.
bool claim_host_name(PoolStore& store, const Host& host, const std::stop_token& stop);
// Why processes of that host's rows may run where `owner` cannot see them: a process elsewhere has the
// name. Empty: none has.
std::string host_name_taken(PoolStore& store, const std::string& name, const std::string& owner);
std::string host_name_taken_by(const Host& other);  // with what to do
// Removes it; the records of other processes of that host stay.
void unregister_host(PoolStore& store, const Host& host);

// Devices that no row uses, in order. A failed row keeps its device until it is destroyed.
std::vector<FreeDevice> free_devices(const std::vector<Host>& hosts, const std::vector<Gpu>& gpus);

}  // namespace navtalk
