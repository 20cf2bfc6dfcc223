// A checkpoint file opened for reading: safetensors, torch zip (.pth, .bin, .pt) or legacy torch
// pickle, told apart by content, never by name. No pickle is ever executed: see unpickler.h. The
// file is read or mapped into memory, by its size, while a Checkpoint lives; reading is thread-safe, tensors are
// materialised on demand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/tensor/ndarray.h"

namespace navtalk {

// `other` is a dtype that navtalk does not read (complex, quantised, 8-bit floats): such a tensor
// is listed, and only asking for its values is an error.
enum class DType { f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean, other };
std::size_t item_size(DType dtype);  // 0 for other
std::string_view name(DType dtype);  // "F32", "BF16", ... as safetensors spells them; "other"

enum class Container { safetensors, torch_zip, torch_legacy };
std::string_view name(Container container);

struct TensorInfo {
  std::string name;
  DType dtype;
  Shape shape;
  std::string spelling = {};  // of a dtype that is `other`, as the file has it
  bool operator==(const TensorInfo&) const = default;
};

class Checkpoint {
 public:
  // Throws Error{not_found} when there is no such file, Error{invalid} with path and cause when it
  // is not a checkpoint, truncated, or out of bounds anywhere. A pickled dict is walked to its
  // tensors: a top-level "state_dict" is entered when there is one; a list of tensors is named "0",
  // "1", ...; nested names are joined by dots. What was
  // read of a file that is cut later is an error of the call that reads it.
  static Checkpoint open(const std::filesystem::path& path);
  Checkpoint(Checkpoint&&) noexcept;
  Checkpoint& operator=(Checkpoint&&) noexcept;
  ~Checkpoint();

  const std::filesystem::path& path() const;
  Container container() const;
  const std::vector<TensorInfo>& tensors() const;  // in file order
  const std::map<std::string, std::string>& metadata()
      const;                                              // safetensors __metadata__; else empty
  const TensorInfo* find(std::string_view tensor) const;  // null when absent

  // The tensor's bytes as stored (native byte order) when they lie contiguous in the mapping and
  // aligned to the item size, without a copy; nullopt for strided, misaligned or byte-swapped ones.
  // This and the calls below throw Error{not_found} when there is no such tensor.
  std::optional<std::span<const std::byte>> mapped(std::string_view tensor) const;
  // What mapped() gave is good as long as this does not throw: Error{failed} when the file was cut.
  void check() const;
  // The same bytes, row-major, copied into `out`, whose size must be element_count * item_size.
  void read(std::string_view tensor, std::span<std::byte> out) const;
  // Any floating tensor as f32, any integer tensor as i64; u8 only from U8. Error{invalid} names
  // file and tensor.
  NdArray<float> read_f32(std::string_view tensor) const;
  NdArray<std::int64_t> read_i64(std::string_view tensor) const;
  NdArray<std::uint8_t> read_u8(std::string_view tensor) const;

 private:
  struct Impl;
  explicit Checkpoint(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Lower-case hexadecimal SHA-256 of a file's content. Progress counts bytes.
std::string sha256_file(const std::filesystem::path& path, const Progress& progress = {});
std::string sha256(std::span<const std::byte> bytes, const Progress& progress = {});

}  // namespace navtalk
