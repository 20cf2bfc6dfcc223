// What torch.save wrote before 1.6, and writes still when asked to:
//
//   pickle 0x1950a86a20f9469cfc6c | pickle 1001 | pickle system info | pickle of the object
//   | pickle of the list of storage keys | per key: int64 count, then count values
//
// The values are little-endian on every machine, whatever the system info says.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/base/error.h"
#include "core/checkpoint/byte_cursor.h"
#include "core/checkpoint/pickle/pickled_tensors.h"
#include "core/checkpoint/pickle/unpickler.h"
#include "core/checkpoint/refuse.h"
#include "core/checkpoint/stored_tensor.h"

namespace navtalk {
namespace {

constexpr std::int64_t k_protocol = 1001;

// The next pickle of the stream.
PickleGraph take_pickle(ByteCursor& in, std::span<const std::byte> file) {
  const auto rest = file.subspan(in.position());
  Unpickler unpickler(rest.first(std::min<std::size_t>(rest.size(), k_max_pickle_bytes)));
  PickleGraph graph = unpickler.run();
  in.take(unpickler.consumed());
  return graph;
}

using Storages = std::unordered_map<std::string_view, std::span<const std::byte>>;

// Only the object says what the storages are made of; the raw data says only how many.
std::unordered_map<std::string_view, PickleStorage> named_storages(const PickleGraph& object) {
  std::unordered_map<std::string_view, PickleStorage> named;
  for (const PickleStorage& storage : object.storages) {
    const auto [known, fresh] = named.emplace(storage.key, storage);
    if (!fresh && (known->second.type != storage.type || known->second.count != storage.count))
      refuse(fmt::format("storage {} has two sizes or types", storage.key));
  }
  return named;
}

Storages take_storages(ByteCursor& in, const PickleGraph& object, const PickleGraph& keys) {
  const auto named = named_storages(object);
  Storages storages;
  if (keys[keys.root].kind != NodeKind::list) refuse("the list of its storages is missing");
  for (const NodeId id : keys[keys.root].items) {
    const Node& key = keys[id];
    const auto found = key.kind == NodeKind::string ? named.find(key.text) : named.end();
    if (found == named.end()) refuse("the list of its storages names one that no tensor uses");
    const PickleStorage& storage = found->second;
    if (storage.item_bytes == 0)
      refuse(fmt::format("storage {} is a {}, whose size navtalk does not know", storage.key,
                         storage.type));
    const std::uint64_t count = in.u64();
    if (count != static_cast<std::uint64_t>(storage.count))
      refuse(fmt::format("storage {} has {} values and should have {}", storage.key, count,
                         storage.count));
    if (count > in.left() / storage.item_bytes)
      refuse(fmt::format("truncated: storage {} has {} values of {} bytes, {} bytes are left",
                         storage.key, count, storage.item_bytes, in.left()));
    if (!storages.emplace(found->first, in.take(count * storage.item_bytes)).second)
      refuse(fmt::format("storage {} comes twice", storage.key));
  }
  return storages;
}

}  // namespace

CheckpointContents read_torch_legacy(std::span<const std::byte> file) {
  ByteCursor in(file);
  take_pickle(in, file);  // the magic number, by which the caller knew the container
  const PickleGraph protocol = take_pickle(in, file);
  const Node& version = protocol[protocol.root];
  if (version.kind != NodeKind::integer || version.integer != k_protocol)
    refuse(fmt::format("a legacy checkpoint of another protocol than {}", k_protocol));
  take_pickle(in, file);  // system info
  const PickleGraph object = take_pickle(in, file);
  const PickleGraph keys = take_pickle(in, file);
  const Storages storages = take_storages(in, object, keys);
  if (in.left() != 0) refuse(fmt::format("{} bytes follow the last storage", in.left()));
  const auto find_storage = [&](const PickleStorage& storage) {
    const auto found = storages.find(storage.key);
    if (found == storages.end()) refuse(fmt::format("its storage {} is missing", storage.key));
    return found->second;
  };
  return {.container = Container::torch_legacy,
          .tensors = pickled_tensors(object, find_storage),
          .metadata = {}};
}

}  // namespace navtalk
