// Latents as they are made, batch after batch in one file, so that an interrupted preparation goes
// on where it stopped. Host byte order: the file never leaves the machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "avatars/bundle/faces.h"

namespace navtalk {

class LatentLog {
 public:
  explicit LatentLog(std::filesystem::path file) : file_(std::move(file)) {}

  // How many of `faces` latents are there; all, or whole batches, since another division into
  // batches gives other last digits. What lies behind them, half written, is cut off.
  std::size_t resume(std::int64_t faces);
  void append(std::span<const float> latents);  // after resume(); Error{failed}
  // All that was appended becomes latents.safetensors, with zeros for frames without a face. One latent at a time is in
  // memory. Error{failed}.
  void write(const std::filesystem::path& file, const Faces& faces,
             const std::string& model_checksum);
  void remove();

 private:
  std::filesystem::path file_;
  std::ofstream out_;
};

}  // namespace navtalk
