#include "server/gateway/jobs/job_files.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <span>

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/files/partial_path.h"
#include "core/log/log.h"

namespace navtalk::server {
namespace fs = std::filesystem;

namespace {

constexpr auto k_upload_grace = std::chrono::hours(1);  // between a file and its job's row

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(Code::failed, folder.native() + " cannot be made: " + error.message());
  fs::permissions(folder, fs::perms::owner_all, error);
}

void remove_folder(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) log::warn("a job's files cannot be removed", {{"error", error.message()}});
}

}  // namespace

std::string JobFiles::keep_upload(std::string_view bytes) const {
  const std::string name = sha256(std::as_bytes(std::span(bytes)));
  const fs::path file = upload(name);
  make_folder(file.parent_path());
  std::error_code error;
  if (fs::exists(file, error)) {
    fs::last_write_time(file, fs::file_time_type::clock::now(), error);  // see sweep_uploads()
    if (!error) return name;
  }
  PartialPath partial({.target = file, .overwrite = true});
  std::ofstream to(partial.path(), std::ios::binary);
  to.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  to.close();
  if (!to) throw Error(Code::failed, "the speech cannot be stored: the disk may be full");
  partial.commit();
  return name;
}

fs::path JobFiles::upload(const std::string& audio) const { return folder_ / "uploads" / audio; }

void JobFiles::sweep_uploads(const std::set<std::string>& in_use) const {
  std::error_code error;
  const auto before = fs::file_time_type::clock::now() - k_upload_grace;
  for (fs::directory_iterator at(folder_ / "uploads", error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    if (in_use.contains(at->path().filename().native()) || at->last_write_time(gone) > before)
      continue;
    if (!gone) fs::remove(at->path(), gone);
  }
}

void JobFiles::prepare(const JobId& job) const {
  make_folder(folder_ / job.text);
  make_folder(folder_ / job.text / "segments");
}

fs::path JobFiles::segment(const JobId& job, int index) const {
  return folder_ / job.text / "segments" / fmt::format("{:06}.mp4", index);
}

fs::path JobFiles::result(const JobId& job, const std::string& format) const {
  return folder_ / job.text / ("video." + format);
}

void JobFiles::remove_segments(const JobId& job) const {
  remove_folder(folder_ / job.text / "segments");
}

void JobFiles::remove(const JobId& job) const { remove_folder(folder_ / job.text); }

}  // namespace navtalk::server
