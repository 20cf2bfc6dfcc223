// What `bench pipeline` times: a device, and sets of nets on it, one for each number format. Functions, so that tests have devices of their own
// making.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cmd/bench/report.h"
#include "core/tensor/ndarray.h"

namespace navtalk::cmd {

struct StageTimes {
  std::string stage, unit;
  std::string device;              // or devices: "cuda:0, cuda:1" where the decoder is apart
  int batch = 1;                   // the timings are of so many frames
  bool of_nets = true;             // false: no net takes part
  std::optional<Timing> host{};    // by the program's clock, until the result lies in its memory
  std::optional<Timing> events{};  // between two events of the device
  std::optional<double>
      least_s{};  // of the batch: what computing or moving memory takes at the device's own rates
  // By the device's clock where it has one.
  const Timing& timing() const { return events ? *events : *host; }
};

// What a device reached where that was measured.
struct MeasuredRates {
  std::string precision;
  double flop_per_s = 0, bytes_per_s = 0;
};

struct BenchedNets {
  std::string precision;  // number formats, in words; empty: no net takes part
  std::function<std::vector<StageTimes>()> times;
  // [K,256,256,3] BGR: of the same picture and the same sound for all nets.
  std::function<NdArray<std::uint8_t>()> faces;
};

struct BenchedDevice {
  std::string name;                     // "cpu", "cuda:0"
  std::vector<std::string> precisions;  // to time; empty: none of those that are asked for
  // One at a time: the nets before are gone. Errors of the model's files, and for a format that the device lacks.
  std::function<BenchedNets(const std::string& precision)> load;
  // Of what was timed so far.
  std::function<std::vector<MeasuredRates>()> rates;
};

}  // namespace navtalk::cmd
