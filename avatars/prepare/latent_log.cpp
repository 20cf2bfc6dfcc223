#include "avatars/prepare/latent_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

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

std::vector<float> LatentLog::read() {
  out_.close();
  std::vector<float> values(std::filesystem::file_size(file_) / sizeof(float));
  std::ifstream in(file_, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float))))
    throw Error(Code::failed, fmt::format("cannot read {}", file_.string()));
  return values;
}

void LatentLog::remove() {
  out_.close();
  std::filesystem::remove(file_);
}

}  // namespace navtalk
