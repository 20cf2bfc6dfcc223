// Writes by hand what torch.save would write, and what it never would: pickled tensors for the
// tests of the two torch containers.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace torch_bytes {

using Sizes = std::vector<std::int64_t>;

template <class T>
std::string little_endian(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

inline std::string text(const std::string& value) {
  return "X" + little_endian(static_cast<std::uint32_t>(value.size())) + value;
}
inline std::string integer(std::int64_t value) { return "\x8a\x08" + little_endian(value); }
inline std::string tuple(const Sizes& values) {
  std::string body = "(";
  for (const std::int64_t value : values) body += integer(value);
  return body + "t";
}
inline std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}

struct Tensor {
  std::string storage = "0";
  std::string type = "FloatStorage";
  std::int64_t count = 4;  // of the storage
  std::int64_t offset = 0;
  Sizes shape{4};
  Sizes strides{1};
  std::string view{};  // legacy: pickled, "" for a zip's five-part persistent id
};

inline std::string persistent_id(const Tensor& tensor) {
  return "(" + text("storage") + global("torch", tensor.type) + text(tensor.storage) + text("cpu") +
         integer(tensor.count) + tensor.view + "tQ";
}
inline std::string pickled(const Tensor& tensor) {
  return global("torch._utils", "_rebuild_tensor_v2") + "(" + persistent_id(tensor) +
         integer(tensor.offset) + tuple(tensor.shape) + tuple(tensor.strides) + "\x89Nt" + "R";
}
// {"a": first, "b": second, ...}
inline std::string state_dict(const std::vector<Tensor>& tensors) {
  std::string body = "\x80\x02}(";
  char name = 'a';
  for (const Tensor& tensor : tensors) body += text(std::string(1, name++)) + pickled(tensor);
  return body + "u.";
}

inline std::string floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

}  // namespace torch_bytes
