// usage: gpu_bench_norms [--json]   times the GroupNorm kernel on the first device, at the maps of MuseTalk's UNet and decoder in fp16
// With --json the table is on standard error. On SIGTERM it prints the rows that it has measured.
#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "cmd/bench/report.h"
#include "cmd/terminal/table.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "gpu/cuda/device_block.h"
#include "gpu/cuda/devices.h"
#include "gpu/cuda/launch_timer.h"
#include "gpu/kernels/device/group_norm.h"

using namespace navtalk;

namespace {

struct Map {
  const char* net;
  int side, channels, skip;
};
constexpr std::array<Map, 10> k_maps{{{"unet", 32, 320, 0},
                                      {"unet", 32, 640, 320},
                                      {"unet", 16, 640, 0},
                                      {"unet", 8, 1280, 1280},
                                      {"unet", 4, 1280, 1280},
                                      {"decoder", 32, 512, 0},
                                      {"decoder", 64, 512, 0},
                                      {"decoder", 128, 512, 0},
                                      {"decoder", 256, 256, 0},
                                      {"decoder", 256, 128, 0}}};

struct Row {
  Map map;
  int batch;
  cmd::Timing timing;
  double roofline_percent;  // what copying the map once would take
};

cuda::GroupNorm norm_of(const Map& map, int batch) {
  return {.images = batch,
          .pixels = map.side * map.side,
          .channels = map.channels,
          .skip_channels = map.skip};
}

// Maps, result, gamma, beta and workspace of one norm in a row, 256 bytes apart at least.
struct Layout {
  std::size_t x, skip, y, gamma, beta, workspace, bytes;
};
Layout layout_of(const cuda::GroupNorm& norm) {
  Layout layout{};
  const auto place = [&](std::size_t bytes) {
    const std::size_t at = layout.bytes;
    layout.bytes = (at + bytes + 255) / 256 * 256;
    return at;
  };
  const auto pixels = static_cast<std::size_t>(norm.images) * static_cast<std::size_t>(norm.pixels);
  const auto channels = static_cast<std::size_t>(norm.channels),
             skip = static_cast<std::size_t>(norm.skip_channels);
  layout.x = place(2 * pixels * channels);
  layout.skip = place(2 * pixels * skip);
  layout.y = place(2 * pixels * (channels + skip));
  layout.gamma = place(4 * (channels + skip));
  layout.beta = place(4 * (channels + skip));
  layout.workspace = place(cuda::group_norm_workspace_bytes(norm));
  return layout;
}

Row measured(const Map& map, int batch, const cuda::DeviceProperties& device,
             cuda::LaunchTimer& timer, double bytes_per_second, const std::stop_token& stop) {
  const cuda::GroupNorm norm = norm_of(map, batch);
  const Layout layout = layout_of(norm);
  // Read once and written once.
  const double moved = 2 * 2.0 * batch * norm.pixels * (map.channels + map.skip);
  const std::size_t room = cuda::free_device_memory() / 2 / layout.bytes;
  const std::size_t sets = std::clamp<std::size_t>(4 * device.l2_bytes / layout.bytes + 1, 1,
                                                   std::clamp<std::size_t>(room, 1, 512));
  const cuda::DeviceBlock memory(sets * layout.bytes);
  // Noise between 0.5 and 1 in size; gamma and beta are such values, too.
  std::vector<std::uint8_t> content(layout.bytes);
  constexpr std::size_t k_noise = 1 << 20;  // bytes, which repeat
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < layout.workspace; ++i) {
    if (i >= k_noise) {
      content[i] = content[i - k_noise];
      continue;
    }
    state = state * 1664525U + 1013904223U;
    const auto byte = static_cast<std::uint8_t>(state >> 24);
    content[i] = i % 2 == 0 ? byte : static_cast<std::uint8_t>((byte & 0x83U) | 0x38U);
  }
  for (std::size_t set = 0; set < sets; ++set)
    cuda::check(cudaMemcpy(memory.data() + set * layout.bytes, content.data(), content.size(),
                           cudaMemcpyHostToDevice),
                "cudaMemcpy");
  const auto enqueue = [&](cuda::Stream stream) {
    for (std::size_t set = 0; set < sets; ++set) {
      std::uint8_t* at = memory.data() + set * layout.bytes;
      cuda::GroupNorm one = norm;
      one.x = at + layout.x;
      one.skip = map.skip > 0 ? at + layout.skip : nullptr;
      one.y = at + layout.y;
      one.gamma = reinterpret_cast<const float*>(at + layout.gamma);
      one.beta = reinterpret_cast<const float*>(at + layout.beta);
      cuda::group_norm(one, at + layout.workspace, stream);
    }
  };
  const cmd::Timing timing = cmd::timing_of(timer.time(enqueue, static_cast<int>(sets), {}, stop));
  return {map, batch, timing, 100 * moved / bytes_per_second / timing.median.count()};
}

double microseconds(std::chrono::duration<double> time) { return time.count() * 1e6; }

void print(const std::vector<Row>& rows, bool json) {
  if (json) {
    auto list = nlohmann::ordered_json::array();
    for (const Row& row : rows)
      list.push_back({{"net", row.map.net},
                      {"side", row.map.side},
                      {"channels", row.map.channels},
                      {"skip_channels", row.map.skip},
                      {"batch", row.batch},
                      {"unit", "us per call"},
                      {"median", microseconds(row.timing.median)},
                      {"p99", microseconds(row.timing.p99)},
                      {"runs", row.timing.runs},
                      {"roofline_percent", row.roofline_percent}});
    fmt::print("{}\n", nlohmann::ordered_json{{"rows", list}}.dump());
  }
  std::vector<std::vector<std::string>> cells;
  for (const Row& row : rows)
    cells.push_back({fmt::format("{} {}x{}", row.map.net, row.map.side, row.map.side),
                     row.map.skip > 0 ? fmt::format("{} + {}", row.map.channels, row.map.skip)
                                      : std::to_string(row.map.channels),
                     std::to_string(row.batch),
                     fmt::format("{:.1f}", microseconds(row.timing.median)),
                     fmt::format("{:.1f}", microseconds(row.timing.p99)),
                     fmt::format("{:.0f} %", row.roofline_percent)});
  constexpr auto k_right = cmd::Column::Align::right;
  fmt::print(json ? stderr : stdout, "GroupNorm with SiLU, fp16, microseconds per call\n\n{}",
             cmd::table({{"map"},
                         {"channels", k_right},
                         {"batch", k_right},
                         {"median", k_right},
                         {"p99", k_right},
                         {"of roofline", k_right}},
                        cells));
}

void run(bool json) {
  const SignalStop stop;
  const cuda::Devices devices = cuda::devices();
  if (devices.list.empty()) throw Error(Code::invalid, devices.missing);
  cuda::LaunchTimer timer;
  const double rate = cuda::copy_rate(timer, stop.token());
  std::vector<Row> rows;
  try {
    for (const Map& map : k_maps)
      for (const int batch : {1, 8})
        rows.push_back(measured(map, batch, devices.list.front(), timer, rate, stop.token()));
  } catch (...) {
    if (!rows.empty()) print(rows, json);  // what was measured until a signal
    throw;
  }
  print(rows, json);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const bool json = argc == 2 && std::string_view(argv[1]) == "--json";
    if (argc > 1 && !json) throw Error(Code::usage, "usage: gpu_bench_norms [--json]");
    run(json);
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "gpu_bench_norms: %s\n", error.what());
    return exit_status(error.code());
  }
}
