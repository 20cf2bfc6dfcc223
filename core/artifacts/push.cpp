#include "core/artifacts/push.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <system_error>

#include "core/artifacts/retry.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/sleep.h"
#include "core/checkpoint/checkpoint.h"
#include "core/files/whole_file.h"

namespace navtalk {
namespace {

namespace fs = std::filesystem;
using Outcome = Transfer::Outcome;

constexpr int k_tries = 5;

// Tries again what may succeed later. Error{failed} for what will not.
Transfer persist(const std::function<Transfer()>& act, const std::stop_token& stop) {
  for (int tries = 1;; ++tries) {
    Transfer transfer = act();
    if (transfer.outcome == Outcome::done || transfer.outcome == Outcome::missing) return transfer;
    if (transfer.outcome == Outcome::refused || tries == k_tries)
      throw Error(Code::failed, transfer.why);
    if (!sleep_for(retry_delay(tries, 0, transfer.retry_after), stop)) throw_if_stopped(stop);
  }
}

void put(const std::function<Transfer()>& act, const std::stop_token& stop) {
  const Transfer transfer = persist(act, stop);
  if (transfer.outcome == Outcome::missing) throw Error(Code::failed, transfer.why);
}

}  // namespace

ArtifactManifest describe_artifact(ArtifactKind kind, const std::string& name,
                                   const fs::path& folder, const std::vector<fs::path>& files,
                                   const Progress& progress, const std::stop_token& stop) {
  ArtifactManifest manifest{.kind = kind, .name = name};
  for (const fs::path& path : files) {
    throw_if_stopped(stop);
    const fs::path file = folder / path;
    open_input(file);  // with an error that names it
    std::error_code error;
    const std::uint64_t bytes = fs::file_size(file, error);
    if (error) throw Error(Code::invalid, file.native() + ": " + error.message());
    manifest.files.push_back(
        {.path = path.generic_string(), .bytes = bytes, .sha256 = sha256_file(file, progress)});
    manifest.files.back().key = blob_key(manifest.files.back().sha256);
  }
  std::sort(manifest.files.begin(), manifest.files.end(),
            [](const ArtifactFile& a, const ArtifactFile& b) { return a.path < b.path; });
  if (!valid_artifact_name(name))
    throw Error(Code::invalid,
                "a name in a model store is 1 to 64 of A-Z, a-z, 0-9, '.', '_' and '-', not "
                "starting with '.' or '-': give another one");
  return parse_manifest(manifest_text(manifest), kind, name);  // as whoever fetches it reads it
}

PushResult push_artifact(ArtifactManifest manifest, const fs::path& folder, ArtifactSource& source,
                         const Progress& progress, const std::stop_token& stop, bool replace) {
  PushResult result{.manifest = std::move(manifest)};
  std::uint64_t done = 0;
  const std::uint64_t all = result.manifest.bytes();
  for (const ArtifactFile& file : result.manifest.files) {
    const std::string key = key_of(result.manifest, file);
    const auto look = [&] { return source.find_content(key, file.bytes, file.sha256, stop); };
    const bool there = !replace && persist(look, stop).outcome == Outcome::done;
    if (!there) {
      put([&] { return source.put_file(key, folder / file.path, file.sha256, stop); }, stop);
      result.uploaded_bytes += file.bytes;
    }
    done += file.bytes;
    if (progress) progress("pushing", done, all);
  }
  const std::string key = manifest_key(result.manifest.kind, result.manifest.name);
  const std::string text = manifest_text(result.manifest);
  put([&] { return source.put_text(key, text, stop); }, stop);
  return result;
}

}  // namespace navtalk
