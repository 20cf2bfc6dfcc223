#include "gpu/timing/net_times.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>

#include "gpu/cuda/devices.h"
#include "gpu/model/torch_call.h"
#include "gpu/nets/device_stream.h"
#include "gpu/timing/event_times.h"
#include "gpu/timing/timed_nets.h"

namespace navtalk {
namespace {

using Seconds = std::chrono::duration<double>;

// Sides of the matrices, and bytes that are copied: far more than a cache holds.
constexpr std::int64_t k_side_on_cpu = 1024, k_side_on_gpu = 8192;
constexpr std::int64_t k_copied_on_cpu = std::int64_t{1} << 27,
                       k_copied_on_gpu = std::int64_t{1} << 30;

std::size_t l2_bytes(const Device& device) {
  if (device.kind == Device::Kind::cpu) return 0;
  const std::vector<cuda::DeviceProperties> found = cuda::devices().list;
  const auto index = static_cast<std::size_t>(device.index);
  return index < found.size() ? found[index].l2_bytes : 0;
}

void time_batch(const TimedNets& nets, const NetTimesOptions& options, int batch,
                const std::stop_token& stop, std::vector<PassTimes>& all) {
  const auto time = [&](const char* pass, const std::function<void()>& work) {
    all.push_back({pass, batch, event_times(nets.device(), work, options.budget, stop)});
  };
  const nets::Tensors inputs = nets.unet_inputs(batch);
  const at::Tensor talking = nets.noise({batch, 4, k_latent_size, k_latent_size});
  const TimedPastes pastes(nets.device(), batch, l2_bytes(options.device));
  std::int64_t index = 0;
  const auto paste = [&](const nets::Tensors& faces) {
    TimedPastes::launch(pastes.set(index, faces), faces.front().scalar_type(),
                        nets::stream_of(nets.device()));
    index = (index + 1) % pastes.sets();
  };
  time("unet", [&] { nets.unet(inputs); });
  time("decoder", [&] { nets.decode(talking); });
  time("post-process 720p", [&, faces = in_nhwc(nets.decode(talking))] { paste(faces); });
  time("frame", [&] { paste(in_nhwc(nets.decode(nets.unet(inputs)))); });
}

Seconds fastest(const std::vector<Seconds>& runs) { return *std::ranges::min_element(runs); }

}  // namespace

std::vector<PassTimes> net_times(const NetTimesOptions& options, std::span<const int> batches,
                                 const std::stop_token& stop) {
  std::vector<PassTimes> all;
  run(at::get_num_threads(), "timing the nets", [&] {
    const c10::DeviceGuard device(torch_device(options.device));
    const TimedNets nets(find_model_files(options.models), options.device, options.precision,
                         options.weights, options.decoded, options.graphs);
    for (const int batch : batches) time_batch(nets, options, batch, stop, all);
  });
  return all;
}

DeviceRates device_rates(const Device& device, Precision precision, int threads, Seconds budget,
                         const std::stop_token& stop) {
  return run(threads, "measuring the device", [&] {
    const at::Device where = torch_device(device);
    const c10::DeviceGuard guard(where);
    const std::int64_t side = where.is_cpu() ? k_side_on_cpu : k_side_on_gpu;
    const at::TensorOptions numbers =
        at::TensorOptions().dtype(nets::scalar_type(precision)).device(where);
    const at::Tensor a = at::randn({side, side}, numbers), b = at::randn({side, side}, numbers);
    at::Tensor product = at::empty({side, side}, numbers);
    const Seconds multiplied = fastest(event_times(
        where, [&] { at::mm_out(product, a, b); }, budget, stop));
    const std::int64_t bytes = where.is_cpu() ? k_copied_on_cpu : k_copied_on_gpu;
    const at::TensorOptions floats = at::TensorOptions().dtype(at::kFloat).device(where);
    const at::Tensor from = at::ones({bytes / 4}, floats);
    at::Tensor to = at::empty_like(from);
    const Seconds copied = fastest(event_times(
        where, [&] { to.copy_(from); }, budget, stop));
    const auto n = static_cast<double>(side);
    return DeviceRates{.flop_per_s = 2 * n * n * n / multiplied.count(),
                       .bytes_per_s = 2 * static_cast<double>(bytes) / copied.count()};
  });
}

}  // namespace navtalk
