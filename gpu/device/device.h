// Where nets run and in which number format; and the machine's description that every benchmark
// prints.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace navtalk {

struct Device {
  enum class Kind { cpu, cuda };
  Kind kind = Kind::cpu;
  int index = 0;
  bool operator==(const Device&) const = default;
};
// "cpu", "cuda", "cuda:N"; nullopt for "auto": a GPU, where there is one. Error{usage} for anything else. Whether the device is
// there, usable_device() knows (gpu/model/usable_device.h).
std::optional<Device> parse_device(std::string_view text);
std::string name(const Device& device);

enum class Precision { fp32, bf16, fp16 };
std::string_view name(Precision precision);
// "fp32", "bf16", "fp16"; nullopt for "auto"; Error{usage} for anything else.
std::optional<Precision> parse_precision(std::string_view text);

// What the weights on a device are stored in. On the CPU they are packed for its kernels, and nothing is to be chosen.
enum class WeightFormat {
  computed,
  int8
};  // as the nets compute; 8 bits with a factor for each output channel
std::string_view name(WeightFormat format);
// "auto": as the nets compute; "int8"; Error{usage} for anything else.
WeightFormat parse_weight_format(std::string_view text);

// What the benchmarks state about the machine.
struct Machine {
  std::string cpu;  // model name
  std::string isa;  // the widest of: sse2, avx2, avx512, avx512_bf16, amx_bf16
  int cores = 0;    // that this process may use
  int threads = 0;  // that the nets use
  double memory_gib = 0;
  std::string libtorch;  // its version
};
Machine this_machine();
// CPUs that this process may run on.
int usable_cores();
// As Machine::isa.
std::string widest_isa();

}  // namespace navtalk
