#include "core/checkpoint/checkpoint.h"

#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "core/base/error.h"
#include "core/checkpoint/byte_cursor.h"
#include "core/checkpoint/mapped_file.h"
#include "core/checkpoint/materialize.h"
#include "core/checkpoint/stored_tensor.h"

namespace navtalk {
namespace {

constexpr std::string_view k_zip_magic("PK\3\4", 4);
// The integer 0x1950a86a20f9469cfc6c as LONG1 and STOP.
constexpr std::string_view k_legacy_magic("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e",
                                          13);
constexpr std::size_t k_frame_bytes = 9;

bool is_pickle(std::string_view text) {
  return text.size() > 1 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5;
}

// The first pickle of a legacy stream; protocols 4 and 5 put a frame around it.
bool is_legacy(std::string_view text) {
  if (!is_pickle(text)) return false;
  const std::string_view body = text.substr(2);
  return body.starts_with(k_legacy_magic) ||
         (body.size() > k_frame_bytes && body[0] == '\x95' &&
          body.substr(k_frame_bytes).starts_with(k_legacy_magic));
}

}  // namespace

CheckpointContents read_checkpoint(std::span<const std::byte> file) {
  const std::string_view text = as_text(file);
  if (text.starts_with(k_zip_magic)) return read_torch_zip(file);
  if (is_legacy(text)) return read_torch_legacy(file);
  if (text.size() > 8 && text[8] == '{') return read_safetensors(file);
  if (text.size() < 16)
    throw Error(Code::invalid, fmt::format("truncated: it has only {} bytes", text.size()));
  throw Error(Code::invalid, is_pickle(text)
                                 ? "a plain Python pickle, not a checkpoint"
                                 : "neither safetensors nor a file that torch.save wrote");
}

struct Checkpoint::Impl {
  std::filesystem::path path;
  MappedFile file;
  CheckpointContents contents;
  std::vector<TensorInfo> infos;
  std::unordered_map<std::string_view, std::size_t> by_name;

  Impl(std::filesystem::path where, MappedFile mapped)
      : path(std::move(where)), file(std::move(mapped)), contents(read_checkpoint(file.bytes())) {
    file.check();
    infos.reserve(contents.tensors.size());
    for (const StoredTensor& tensor : contents.tensors) {
      infos.push_back(tensor.info);
      if (tensor.info.dtype == DType::other) infos.back().spelling = tensor.dtype_spelling;
      if (!by_name.emplace(infos.back().name, infos.size() - 1).second)
        throw Error(Code::invalid, fmt::format("two tensors are called \"{}\"", tensor.info.name));
    }
  }

  const StoredTensor& tensor(std::string_view name) const {
    const auto found = by_name.find(name);
    if (found == by_name.end())
      throw Error(Code::not_found, fmt::format("{}: no tensor \"{}\"", path.native(), name));
    return contents.tensors[found->second];
  }

  template <class Action>
  auto within(std::string_view name, const Action& action) const {
    const StoredTensor& wanted = tensor(name);
    try {
      auto result = action(wanted);
      file.check();
      return result;
    } catch (const Error& error) {
      throw error.within(fmt::format("{}: tensor \"{}\"", path.native(), name));
    }
  }
};

Checkpoint Checkpoint::open(const std::filesystem::path& path) {
  MappedFile file = MappedFile::open(path, k_max_checkpoint_bytes);
  try {
    return Checkpoint(std::make_unique<Impl>(path, std::move(file)));
  } catch (const Error& error) {
    throw error.within(path.native());
  }
}

Checkpoint::Checkpoint(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) noexcept = default;
Checkpoint::~Checkpoint() = default;

const std::filesystem::path& Checkpoint::path() const { return impl_->path; }
Container Checkpoint::container() const { return impl_->contents.container; }
const std::vector<TensorInfo>& Checkpoint::tensors() const { return impl_->infos; }
const std::map<std::string, std::string>& Checkpoint::metadata() const {
  return impl_->contents.metadata;
}

const TensorInfo* Checkpoint::find(std::string_view tensor) const {
  const auto found = impl_->by_name.find(tensor);
  return found == impl_->by_name.end() ? nullptr : &impl_->infos[found->second];
}

std::optional<std::span<const std::byte>> Checkpoint::mapped(std::string_view tensor) const {
  return impl_->within(tensor, [](const StoredTensor& stored) { return mapped_bytes(stored); });
}

void Checkpoint::read(std::string_view tensor, std::span<std::byte> out) const {
  impl_->within(tensor, [&](const StoredTensor& stored) {
    copy_bytes(stored, out);
    return out.size();
  });
}

void Checkpoint::check() const { impl_->file.check(); }

NdArray<float> Checkpoint::read_f32(std::string_view tensor) const {
  return impl_->within(tensor, [](const StoredTensor& stored) { return as_f32(stored); });
}

NdArray<std::int64_t> Checkpoint::read_i64(std::string_view tensor) const {
  return impl_->within(tensor, [](const StoredTensor& stored) { return as_i64(stored); });
}

NdArray<std::uint8_t> Checkpoint::read_u8(std::string_view tensor) const {
  return impl_->within(tensor, [](const StoredTensor& stored) { return as_u8(stored); });
}

}  // namespace navtalk
