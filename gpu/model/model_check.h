// What a checkpoint folder holds and whether it fits: everything that `navtalk model check` prints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/checkpoint/checkpoint.h"
#include "gpu/nets/tensor_fit.h"

namespace navtalk {

enum class FileState {
  fits,      // there, readable, and what the configuration asks for
  readable,  // there and readable; nothing to compare it with
  missing,
  unfit,  // there, but damaged, of another structure, or with other tensors; `problems` say why
};
std::string_view name(FileState state);  // "fits", "readable", "missing", "does not fit"

struct FileReport {
  std::string what;            // "UNet configuration", "face detector (S3FD)"
  std::filesystem::path path;  // below the root: found there, or looked for there
  bool needed = true;          // false: the folder is complete without it
  FileState state = FileState::missing;
  std::uint64_t bytes = 0;
  std::string sha256;     // empty when not asked for
  std::string container;  // "json", or a checkpoint's; empty when it cannot be read
  std::vector<TensorInfo> tensors;
  Fit fit;                            // of weights
  std::vector<std::string> problems;  // in sentences
};

struct ModelReport {
  std::filesystem::path root;
  std::vector<FileReport> files;
  // Every needed file is there, and none that is there is unfit.
  bool fits() const;
};

struct ModelCheckOptions {
  bool read_all = true;  // SHA-256 of every file, and whether the nets' weights are finite numbers
  Progress progress{};
  std::stop_token stop{};
};

// Error{not_found} when there is no such folder; everything below it that is wrong goes into the
// report. Error{interrupted} or Error{terminated} on a stop request.
ModelReport check_models(const std::filesystem::path& root, const ModelCheckOptions& options);

}  // namespace navtalk
