#include "core/checkpoint/pickle/torch_list_writer.h"

#include <fmt/format.h>

#include <bit>
#include <cerrno>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/checkpoint/pickle/pickle_opcodes.h"
#include "core/files/whole_file.h"

namespace navtalk {
namespace {

static_assert(std::endian::native == std::endian::little);

template <class Number>
std::string little(Number value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// A pickle as it grows.
class PickleText {
 public:
  PickleText& op(std::uint8_t opcode) {
    text_ += static_cast<char>(opcode);
    return *this;
  }
  PickleText& integer(std::int64_t value) {
    op(op::k_bin_int);
    text_ += little(static_cast<std::int32_t>(value));
    return *this;
  }
  PickleText& string(std::string_view value) {
    op(op::k_bin_unicode);
    text_ += little(static_cast<std::uint32_t>(value.size()));
    text_ += value;
    return *this;
  }
  PickleText& global(std::string_view module, std::string_view name) {
    op(op::k_global);
    text_ += fmt::format("{}\n{}\n", module, name);
    return *this;
  }
  PickleText& put(std::uint32_t index) { return memo(op::k_long_bin_put, index); }
  PickleText& get(std::uint32_t index) { return memo(op::k_long_bin_get, index); }
  PickleText& integers(const Shape& values) {
    op(op::k_mark);
    for (const std::int64_t value : values) integer(value);
    return op(op::k_tuple);
  }
  PickleText& begin() {
    op(op::k_proto).op(2);
    return op(op::k_empty_list).op(op::k_mark);
  }
  const std::string& end() {
    op(op::k_appends).op(op::k_stop);
    return text_;
  }

 private:
  PickleText& memo(std::uint8_t opcode, std::uint32_t index) {
    op(opcode);
    text_ += little(index);
    return *this;
  }

  std::string text_;
};

// What the memo holds before the tensors.
enum Shared : std::uint32_t { k_rebuild, k_storage, k_shape, k_strides, k_hooks, k_first_tensor };

Shape strides_of(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

void put_tensor(PickleText& pickle, const TorchList& list, std::size_t tensor, bool first) {
  const auto count = static_cast<std::int64_t>(element_count(list.shape));
  const auto shared = [&](std::uint32_t index, const auto& write) {
    if (!first) {
      pickle.get(index);
      return;
    }
    write();
    pickle.put(index);
  };
  shared(k_rebuild, [&] { pickle.global("torch._utils", "_rebuild_tensor_v2"); });
  pickle.op(op::k_mark);
  shared(k_storage, [&] {
    pickle.op(op::k_mark)
        .string("storage")
        .global("torch", "FloatStorage")
        .string("0")
        .string("cpu");
    pickle.integer(count * static_cast<std::int64_t>(list.tensors));
    pickle.op(op::k_tuple).op(op::k_bin_pers_id);
  });
  pickle.integer(count * static_cast<std::int64_t>(tensor));
  shared(k_shape, [&] { pickle.integers(list.shape); });
  shared(k_strides, [&] { pickle.integers(strides_of(list.shape)); });
  pickle.op(op::k_new_false);
  shared(k_hooks, [&] { pickle.global("collections", "OrderedDict"); });
  pickle.op(op::k_empty_tuple).op(op::k_reduce).op(op::k_tuple).op(op::k_reduce);
  pickle.put(static_cast<std::uint32_t>(k_first_tensor + tensor));
}

std::string pickled(const TorchList& list) {
  PickleText pickle;
  pickle.begin();
  std::vector<bool> known(list.tensors);
  bool first = true;
  for (const std::size_t tensor : list.order) {
    NAVTALK_CHECK(tensor < list.tensors);
    if (known[tensor]) {
      pickle.get(static_cast<std::uint32_t>(k_first_tensor + tensor));
      continue;
    }
    put_tensor(pickle, list, tensor, first);
    known[tensor] = true;
    first = false;
  }
  return pickle.end();
}

// Zip's checksum: CRC-32 with the polynomial 0xEDB88320, bits reflected.
class Crc32 {
 public:
  Crc32() {
    for (std::uint32_t i = 0; i < table_.size(); ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit)
        value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320U : 0U);
      table_[i] = value;
    }
  }
  void add(std::string_view bytes) {
    for (const char byte : bytes)
      value_ = (value_ >> 8) ^ table_[(value_ ^ static_cast<std::uint8_t>(byte)) & 0xFF];
  }
  std::uint32_t value() const { return ~value_; }

 private:
  std::array<std::uint32_t, 256> table_{};
  std::uint32_t value_ = ~0U;
};

std::string_view bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

class ZipText {
 public:
  explicit ZipText(const std::filesystem::path& file)
      : file_(file), out_(file, std::ios::binary | std::ios::trunc) {}

  void begin(const std::string& name, std::uint32_t size, std::uint32_t crc) {
    // Version 2.0, no flags, stored, 1 January 1980.
    const std::string common =
        little<std::uint16_t>(20) + little<std::uint16_t>(0) + little<std::uint16_t>(0) +
        little<std::uint16_t>(0) + little<std::uint16_t>(0x21) + little(crc) + little(size) +
        little(size) + little(static_cast<std::uint16_t>(name.size())) + little<std::uint16_t>(0);
    directory_ += "PK\1\2" + little<std::uint16_t>(20) + common + std::string(10, '\0') +
                  little(static_cast<std::uint32_t>(at_)) + name;
    ++members_;
    put("PK\3\4" + common + name);
  }
  void put(std::string_view bytes) {
    at_ += bytes.size();
    if (!out_.write(bytes.data(), std::ssize(bytes)))
      throw Error(Code::failed,
                  fmt::format("{} cannot be written: {}", file_.string(), system_message(errno)));
  }
  void finish() {
    const auto start = static_cast<std::uint32_t>(at_);
    const auto size = static_cast<std::uint32_t>(directory_.size());
    put(directory_);
    put("PK\5\6" + std::string(4, '\0') + little(members_) + little(members_) + little(size) +
        little(start) + little<std::uint16_t>(0));
    if (!out_.flush()) put("");
  }

 private:
  std::filesystem::path file_;
  std::ofstream out_;
  std::string directory_;
  std::uint64_t at_ = 0;
  std::uint16_t members_ = 0;
};

void put_member(ZipText& zip, const std::string& name, std::string_view bytes) {
  Crc32 crc;
  crc.add(bytes);
  zip.begin(name, static_cast<std::uint32_t>(bytes.size()), crc.value());
  zip.put(bytes);
}

}  // namespace

void write_pickled_rows(const std::filesystem::path& file,
                        const std::vector<std::array<int, 4>>& rows) {
  PickleText pickle;
  pickle.begin();
  for (const auto& row : rows) {
    pickle.op(op::k_empty_list).op(op::k_mark);
    for (const int value : row) pickle.integer(value);
    pickle.op(op::k_appends);
  }
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  if (!(out << pickle.end()).flush())
    throw Error(Code::failed,
                fmt::format("{} cannot be written: {}", file.string(), system_message(errno)));
}

void write_torch_list(const std::filesystem::path& file, const TorchList& list) {
  const std::uint64_t size =
      static_cast<std::uint64_t>(element_count(list.shape)) * list.tensors * sizeof(float);
  constexpr std::uint64_t k_room = std::uint64_t{64} << 20;  // of the pickle and the directory
  if (size > std::numeric_limits<std::uint32_t>::max() - k_room)
    throw Error(Code::invalid,
                fmt::format("{}: {} tensors exceed 4 GiB", file.string(), list.tensors));
  Crc32 crc;
  for (std::size_t i = 0; i < list.tensors; ++i) crc.add(bytes_of(list.values(i)));
  ZipText zip(file);
  put_member(zip, "latents/data.pkl", pickled(list));
  zip.begin("latents/data/0", static_cast<std::uint32_t>(size), crc.value());
  for (std::size_t i = 0; i < list.tensors; ++i) zip.put(bytes_of(list.values(i)));
  put_member(zip, "latents/version", "3\n");
  zip.finish();
}

}  // namespace navtalk
