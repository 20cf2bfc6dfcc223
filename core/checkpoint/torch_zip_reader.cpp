//   T/data.pkl    the object, whose tensors name storages by persistent id
//   T/data/KEY    a storage's bytes        T/byteorder    "little" or "big"; absent: little
// T is the name of the folder that everything is in; other members have no meaning here.
#include <fmt/format.h>

#include <bit>

#include "core/base/error.h"
#include "core/checkpoint/byte_cursor.h"
#include "core/checkpoint/pickle/pickled_tensors.h"
#include "core/checkpoint/pickle/unpickler.h"
#include "core/checkpoint/refuse.h"
#include "core/checkpoint/stored_tensor.h"
#include "core/checkpoint/zip_directory.h"

namespace navtalk {
namespace {

std::string find_folder(const ZipMembers& members) {
  constexpr std::string_view tail = "/data.pkl";
  std::string folder;
  for (const auto& [name, member] : members) {
    if (!name.ends_with(tail) || name.find('/') != name.size() - tail.size()) continue;
    if (!folder.empty()) refuse("a zip archive with two data.pkl");
    folder = name.substr(0, name.size() - tail.size());
  }
  if (folder.empty()) refuse("a zip archive without data.pkl: torch.save did not write it");
  if (members.contains(folder + "/constants.pkl"))
    refuse("a TorchScript archive, which holds a program; save the state_dict() with torch.save");
  for (const auto& [name, member] : members) {
    if (member.compressed)
      refuse(fmt::format("member {} is compressed; torch.save never does", name));
  }
  return folder;
}

bool is_big_endian(const ZipMembers& members, const std::string& folder) {
  const auto found = members.find(folder + "/byteorder");
  if (found == members.end()) return false;
  const std::string_view order = as_text(found->second.bytes);
  if (order != "little" && order != "big") refuse("its byteorder is neither little nor big");
  return order == "big";
}

PickleGraph unpickle(std::span<const std::byte> bytes) {
  if (bytes.size() > k_max_pickle_bytes)
    refuse(fmt::format("a data.pkl of {} bytes is too large", bytes.size()));
  return unpickle_all(bytes);
}

}  // namespace

CheckpointContents read_torch_zip(std::span<const std::byte> file) {
  const ZipMembers members = read_zip_directory(file);
  const std::string folder = find_folder(members);
  const bool swapped = is_big_endian(members, folder) != (std::endian::native == std::endian::big);
  const PickleGraph graph = unpickle(members.at(folder + "/data.pkl").bytes);
  const auto find_storage = [&](const PickleStorage& storage) {
    const auto found = members.find(fmt::format("{}/data/{}", folder, storage.key));
    if (found == members.end()) refuse(fmt::format("its storage {} is missing", storage.key));
    const auto bytes = found->second.bytes;
    const auto count = static_cast<std::uint64_t>(storage.count);
    if (bytes.size() % storage.item_bytes != 0 || bytes.size() / storage.item_bytes != count)
      refuse(fmt::format("its storage {} has {} bytes and not {} values of {}", storage.key,
                         bytes.size(), count, storage.item_bytes));
    return bytes;
  };
  CheckpointContents contents{.container = Container::torch_zip,
                              .tensors = pickled_tensors(graph, find_storage),
                              .metadata = {}};
  for (StoredTensor& tensor : contents.tensors) tensor.swapped = swapped;
  return contents;
}

}  // namespace navtalk
