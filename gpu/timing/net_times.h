// What a device takes for the nets and for the launch behind them, by its own clock, and what it reaches at most.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "gpu/device/device.h"
#include "gpu/timing/net_work.h"

namespace navtalk {

struct NetTimesOptions {
  std::filesystem::path models;
  Device device;  // the CPU in the place of a GPU, for tests
  Precision precision = Precision::fp16;
  WeightFormat weights = WeightFormat::computed;
  std::int64_t decoded = 2;  // faces in one pass of the decoder
  bool graphs = true;
  std::chrono::duration<double> budget{};  // of each pass
};

// "unet", "decoder", "post-process 720p" (the launch that puts faces into their frames) or "frame" (all three), of so many faces at once.
struct PassTimes {
  std::string pass;
  int batch = 1;
  std::vector<std::chrono::duration<double>> runs;
};

// Between events, as event_times() has it (gpu/timing/event_times.h). Errors of the weights' files and of the device.
std::vector<PassTimes> net_times(const NetTimesOptions& options, std::span<const int> batches,
                                 const std::stop_token& stop);

// The fastest product of two square matrices in that number format, and the fastest copy inside the device's memory (read and written), of
// those that libtorch made here in `budget` each.
DeviceRates device_rates(const Device& device, Precision precision, int threads,
                         std::chrono::duration<double> budget, const std::stop_token& stop);

}  // namespace navtalk
