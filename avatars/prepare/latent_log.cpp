#include "avatars/prepare/latent_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <vector>

#include "avatars/bundle/latents/latents.h"
#include "core/base/error.h"

namespace navtalk {
namespace {

constexpr std::size_t k_latent_bytes = k_latent_values * sizeof(float);

}  // namespace

std::size_t LatentLog::resume(std::int64_t faces) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(file_, missing);
  const auto wanted = static_cast<std::size_t>(faces);
  std::size_t there = missing ? 0 : std::min<std::size_t>(wanted, size / k_latent_bytes);
  if (there < wanted) there -= there % k_encode_batch;
  if (!missing) std::filesystem::resize_file(file_, there * k_latent_bytes);
  out_.open(file_, std::ios::binary | std::ios::app);
  return there;
}

void LatentLog::append(std::span<const float> latents) {
  const auto bytes = std::as_bytes(latents);
  out_.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  out_.flush();
  if (!out_)
    throw Error(Code::failed,
                fmt::format("cannot write {}: {}", file_.string(), std::strerror(errno)));
}

void LatentLog::write(const std::filesystem::path& file, const Faces& faces,
                      const std::string& model_checksum) {
  out_.close();
  std::ifstream in(file_, std::ios::binary);
  std::vector<float> latent(k_latent_values);
  auto face = faces.begin();
  const auto next = [&]() -> std::span<const float> {
    if (!*face++) {
      std::ranges::fill(latent, 0.0F);
    } else if (!in.read(reinterpret_cast<char*>(latent.data()), k_latent_bytes)) {
      throw Error(Code::failed, fmt::format("cannot read {}", file_.string()));
    }
    return latent;
  };
  write_latents(file, std::ssize(faces), next, model_checksum);
}

void LatentLog::remove() {
  out_.close();
  std::filesystem::remove(file_);
}

}  // namespace navtalk
