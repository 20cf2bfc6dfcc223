//   byte 0      8            8+N                          end
//        | u64 N | JSON header | the tensors' data, no holes |
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/checkpoint/byte_cursor.h"
#include "core/checkpoint/refuse.h"
#include "core/checkpoint/stored_tensor.h"
#include "core/text/bounded_json.h"

namespace navtalk {
namespace {

using nlohmann::json;

constexpr std::uint64_t k_max_header_bytes = 100'000'000;
constexpr int k_max_header_levels = 4;

json parse_header(std::string_view text) {
  using Why = JsonRefusal::Why;
  // Otherwise the last of two equal keys would win.
  auto parsed = parse_bounded(
      text, {.bytes = k_max_header_bytes, .levels = k_max_header_levels, .unique_keys = true});
  if (const auto* refusal = std::get_if<JsonRefusal>(&parsed)) {
    if (refusal->why == Why::too_deep) refuse("the header nests too deep");
    if (refusal->why == Why::repeated_key)
      refuse(fmt::format("the header has the key \"{}\" twice", refusal->detail));
    refuse(fmt::format("the header is not JSON: {}", refusal->detail));
  }
  auto& header = std::get<json>(parsed);
  if (!header.is_object()) refuse("the header is not a JSON object");
  return std::move(header);
}

const json& field(const json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end()) refuse(fmt::format("\"{}\" is missing", key));
  return *found;
}

std::int64_t whole_number(const json& value) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > k_max_checkpoint_bytes)
    refuse(fmt::format("{} is not a size", value.dump()));
  return value.get<std::int64_t>();
}

struct Placed {
  StoredTensor tensor;
  std::uint64_t begin, end;
};

Placed read_entry(const std::string& name, const json& entry, std::span<const std::byte> data) {
  if (!entry.is_object()) refuse("is not a JSON object");
  const json& dtype = field(entry, "dtype");
  const json& shape = field(entry, "shape");
  const json& offsets = field(entry, "data_offsets");
  if (!dtype.is_string()) refuse("\"dtype\" is not a string");
  if (!shape.is_array() || !offsets.is_array() || offsets.size() != 2)
    refuse("\"shape\" or \"data_offsets\" is not an array of sizes");
  Placed placed{.tensor = {}, .begin = 0, .end = 0};
  StoredTensor& tensor = placed.tensor;
  tensor.dtype_spelling = dtype.get<std::string>();
  tensor.info = {name, dtype_named(tensor.dtype_spelling), {}};
  for (const json& dimension : shape) tensor.info.shape.push_back(whole_number(dimension));
  placed.begin = static_cast<std::uint64_t>(whole_number(offsets[0]));
  placed.end = static_cast<std::uint64_t>(whole_number(offsets[1]));
  if (placed.end < placed.begin || placed.end > data.size())
    refuse(fmt::format("bytes {} to {} are not within the {} bytes of data", placed.begin,
                       placed.end, data.size()));
  const std::uint64_t bytes = placed.end - placed.begin;
  const std::uint64_t wanted = dense_bytes(tensor.info.shape, item_size(tensor.info.dtype));
  if (tensor.info.dtype != DType::other && bytes != wanted)
    refuse(fmt::format("{} bytes of data, but dtype and shape need {}", bytes, wanted));
  tensor.strides = dense_strides(tensor.info.shape);
  tensor.storage = data.subspan(placed.begin, bytes);
  return placed;
}

std::map<std::string, std::string> read_metadata(const json& entry) {
  std::map<std::string, std::string> metadata;
  if (!entry.is_object()) refuse("\"__metadata__\" is not a JSON object");
  for (const auto& [key, value] : entry.items()) {
    if (!value.is_string()) refuse(fmt::format("metadata \"{}\" is not a string", key));
    metadata.emplace(key, value.get<std::string>());
  }
  return metadata;
}

// Sorted by place, the tensors must follow one another and end with the file.
void check_cover(const std::vector<Placed>& placed, std::uint64_t size) {
  std::uint64_t end = 0;
  for (const Placed& next : placed) {
    if (next.begin != end)
      refuse(fmt::format("tensor \"{}\" {} the one before it", next.tensor.info.name,
                         next.begin < end ? "overlaps" : "leaves a hole behind"));
    end = next.end;
  }
  if (end != size) refuse(fmt::format("{} bytes follow the last tensor", size - end));
}

}  // namespace

CheckpointContents read_safetensors(std::span<const std::byte> file) {
  ByteCursor in(file);
  const std::uint64_t length = in.u64();
  if (length > k_max_header_bytes) refuse(fmt::format("a header of {} bytes is too large", length));
  const json header = parse_header(in.take_text(length));
  const auto data = file.subspan(in.position());

  CheckpointContents contents{.container = Container::safetensors, .tensors = {}, .metadata = {}};
  std::vector<Placed> placed;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      contents.metadata = read_metadata(entry);
      continue;
    }
    try {
      placed.push_back(read_entry(name, entry, data));
    } catch (const Error& error) {
      throw error.within(fmt::format("tensor \"{}\"", name));
    }
  }
  std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  check_cover(placed, data.size());
  for (Placed& next : placed) contents.tensors.push_back(std::move(next.tensor));
  return contents;
}

}  // namespace navtalk
