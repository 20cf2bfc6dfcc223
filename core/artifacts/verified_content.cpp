#include "core/artifacts/verified_content.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdint>
#include <fstream>
#include <system_error>

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/log/log.h"

namespace navtalk {
namespace {

namespace fs = std::filesystem;

// "": it is not a file of that size.
std::string state_of(const fs::path& file, std::uint64_t bytes) {
  struct stat status = {};
  if (::lstat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::uint64_t>(status.st_size) != bytes)
    return "";
  return fmt::format("{} {} {}.{:09}", status.st_ino, bytes, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

void write_record(const fs::path& place, const std::string& state) {
  // Half a record is another state, and the content is read again.
  std::ofstream(place, std::ios::trunc) << state << '\n';
}

std::string problem_of(const fs::path& file, const std::string& sha256) {
  try {
    return sha256_file(file) == sha256 ? "" : "it does not have its SHA-256";
  } catch (const Error& error) {  // the disk does not give it back
    return error.message();
  }
}

}  // namespace

VerifiedContent::VerifiedContent(fs::path folder) : folder_(std::move(folder)) {
  std::error_code ignored;  // without it nothing is recorded, and all is read each time
  fs::create_directories(folder_, ignored);
}

fs::path VerifiedContent::place(const ArtifactFile& content) const {
  return folder_ / content.sha256;
}

bool VerifiedContent::verify(const fs::path& file, const ArtifactFile& content) const {
  const std::string state = state_of(file, content.bytes);
  if (state.empty()) return false;
  std::string verified;
  std::ifstream record(place(content));
  if (std::getline(record, verified) && verified == state) return true;
  const std::string problem = problem_of(file, content.sha256);
  if (problem.empty()) {
    // As it was before it was read: what changed meanwhile has another state.
    write_record(place(content), state);
    return true;
  }
  log::warn("a file in the cache is damaged", {{"file", file.native()}, {"error", problem}});
  return false;
}

void VerifiedContent::record(const fs::path& file, const ArtifactFile& content) const {
  const std::string state = state_of(file, content.bytes);
  if (!state.empty()) write_record(place(content), state);
}

void VerifiedContent::forget(const ArtifactFile& content) const {
  std::error_code ignored;
  fs::remove(place(content), ignored);
}

}  // namespace navtalk
