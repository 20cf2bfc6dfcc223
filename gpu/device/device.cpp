#include "gpu/device/device.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/text/number.h"

namespace navtalk {

std::optional<Device> parse_device(std::string_view text) {
  if (text == "auto") return std::nullopt;
  if (text == "cpu") return Device{};
  Device device{.kind = Device::Kind::cuda, .index = 0};
  bool known = text == "cuda";
  if (text.starts_with("cuda:")) {
    device.index = parse_number<int>(text.substr(5)).value_or(-1);
    known = device.index >= 0;
  }
  if (!known)
    throw Error(Code::usage,
                fmt::format("device '{}' is not one of auto, cpu, cuda, cuda:N", text));
  return device;
}

std::string name(const Device& device) {
  return device.kind == Device::Kind::cpu ? "cpu" : fmt::format("cuda:{}", device.index);
}

std::string_view name(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return "fp32";
    case Precision::bf16:
      return "bf16";
    case Precision::fp16:
      break;
  }
  return "fp16";
}

std::optional<Precision> parse_precision(std::string_view text) {
  if (text == "auto") return std::nullopt;
  for (const Precision p : {Precision::fp32, Precision::bf16, Precision::fp16})
    if (text == name(p)) return p;
  throw Error(Code::usage,
              fmt::format("precision '{}' is not one of auto, fp32, bf16, fp16", text));
}

std::string_view name(WeightFormat format) {
  return format == WeightFormat::int8 ? "int8" : "auto";
}

WeightFormat parse_weight_format(std::string_view text) {
  for (const WeightFormat format : {WeightFormat::computed, WeightFormat::int8})
    if (text == name(format)) return format;
  throw Error(Code::usage, fmt::format("weight format '{}' is not one of auto, int8", text));
}

}  // namespace navtalk
