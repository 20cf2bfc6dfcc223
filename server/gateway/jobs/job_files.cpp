#include "server/gateway/jobs/job_files.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <fstream>
#include <span>

#include "core/base/error.h"
#include "core/base/id.h"
#include "core/base/unique_fd.h"
#include "core/checkpoint/checkpoint.h"
#include "core/files/whole_file.h"
#include "core/log/log.h"
#include "server/gateway/jobs/faults/own_fault.h"

namespace navtalk::server {
namespace fs = std::filesystem;

namespace {

constexpr const char* k_result = "video";
constexpr std::size_t k_id_length = 32;  // random_id()
constexpr std::size_t k_unshared_at_once = 20;
constexpr auto k_upload_grace = std::chrono::hours(1);  // between a file and its job's row

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(Code::failed, folder.native() + " cannot be made: " + error.message());
  fs::permissions(folder, fs::perms::owner_all, error);
}

// By PartialPath's lock.
bool is_being_written(const fs::path& partial) {
  const UniqueFd file(::open(partial.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  return !file || ::flock(file.value(), LOCK_EX | LOCK_NB) != 0;
}

// Other gateways may have the same folder.
UniqueFd locked(const fs::path& folder) {
  UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  while (fd && ::flock(fd.value(), LOCK_EX) != 0 && errno == EINTR) {
  }
  return fd;
}

// The names in it survive a power cut, too.
void sync_folder(const fs::path& path) {
  const UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) ::fsync(folder.value());
}

void remove_folder(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) log::warn("a job's files cannot be removed", {{"error", error.message()}});
}

// Of speech, whose name is its SHA-256.
bool is_whole(const fs::path& file) {
  try {
    return sha256_file(file) == file.filename().native();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void JobFiles::check_folder() const {
  make_folder(folder_);
  const fs::path trial = folder_ / ".trial";
  const UniqueFd file(::open(trial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file && errno != ENOSPC && errno != EDQUOT)
    throw Error(Code::failed, folder_.native() + " cannot be written: " + system_message(errno));
  ::unlink(trial.c_str());
}

std::string JobFiles::keep_upload(std::string_view bytes) const {
  const std::string name = sha256(std::as_bytes(std::span(bytes)));
  on_own_disk([&] {
    if (bucket_) mark_unshared(name);  // first, so that a kill loses none
    write_upload(upload(name), bytes);
  });
  return name;
}

// A file that a disk or a person has cut or changed is replaced.
void JobFiles::write_upload(const fs::path& file, std::string_view bytes) const {
  make_folder(file.parent_path());
  bool young = false;
  {
    const auto lock = locked(file.parent_path());
    std::error_code error;
    young = fs::file_size(file, error) == bytes.size() && !error;
    if (young) fs::last_write_time(file, fs::file_time_type::clock::now(), error);
    young = young && !error;  // see sweep_uploads(), which leaves it from now on
  }
  if (young && is_whole(file)) return;
  // Others may send the same speech at this moment.
  PartialPath partial({.target = file.native() + "." + random_id()});
  errno = 0;
  std::ofstream to(partial.path(), std::ios::binary);
  to.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush();
  if (!to) {
    const std::string why = system_message(errno);
    throw Error(Code::failed, file.native() + " cannot be written: " + why);
  }
  to.close();
  partial.commit();
  const auto lock = locked(file.parent_path());  // see remove_damaged()
  put(partial.target(), file);
}

bool JobFiles::is_damaged(const std::string& audio) const {
  try {
    return sha256_file(upload(audio)) != audio;
  } catch (const Error&) {
    return false;  // whoever reads it finds out why it cannot be read
  }
}

// Looks once more where nobody puts another one there meanwhile.
void JobFiles::remove_damaged(const std::string& audio) const {
  if (!is_damaged(audio)) return;
  const auto lock = locked(folder_ / "uploads");
  if (!is_damaged(audio)) return;
  log::error("speech in jobs.folder is damaged: it is fetched again from the bucket",
             {{"sha256", audio}});
  std::error_code gone;
  fs::remove(upload(audio), gone);
}

fs::path JobFiles::upload(const std::string& audio) const { return folder_ / "uploads" / audio; }

//   this gateway                         one with another folder
//   no job needs the speech              the speech goes to the bucket
//   the speech leaves the bucket         the job is recorded
//   does a job need it now?              does the bucket have it?
//
// Whichever question comes last is answered in a way that brings it back. Few leave between two questions, so that what
// is needed is missing for seconds.
void JobFiles::sweep_uploads(const InUse& in_use, const std::stop_token& stop) const {
  std::set<std::string> needed = in_use();
  std::error_code error;
  const auto before = fs::file_time_type::clock::now() - k_upload_grace;
  const auto goes = [&](const fs::path& file) {
    std::error_code gone;
    if (file.extension() == ".partial") return !is_being_written(file);
    return !needed.contains(file.filename().native()) &&
           fs::last_write_time(file, gone) <= before && !gone;
  };
  const auto remove_old = [&](const fs::path& file) {
    std::error_code gone;
    // Whoever sends the same speech meanwhile makes it young again before or after, and then finds it gone.
    const auto lock = locked(folder_ / "uploads");
    if (goes(file)) fs::remove(file, gone);
  };
  struct Unshared {
    fs::path file{};
    bool left = false;  // false: perhaps, since the answer did not come
  };
  std::vector<Unshared> batch;
  const auto end_batch = [&] {
    if (!batch.empty()) needed = in_use();
    for (const auto& [file, left] : batch) {
      const std::string audio = file.filename().native();
      if (left) remove_old(file);
      // It is needed, or became young meanwhile. A request to stop does not keep it from coming back.
      if (left || needed.contains(audio)) share_again(audio);
    }
    batch.clear();
  };
  bool away = false;
  for (fs::directory_iterator at(folder_ / "uploads", error), end;
       !error && at != end && !stop.stop_requested(); at.increment(error)) {
    const fs::path file = at->path();
    const bool shared = bucket_ && file.extension() != ".partial" && goes(file);
    if (!shared) {
      remove_old(file);
    } else if (!away) {
      const bool left = unshare({JobBucket::upload_key(file.filename().native())}, stop);
      away = !left;
      batch.push_back({.file = file, .left = left});
      if (batch.size() == k_unshared_at_once) end_batch();
    }
  }
  end_batch();
}

fs::path JobFiles::unshared(const std::string& audio) const { return folder_ / "unshared" / audio; }

void JobFiles::mark_unshared(const std::string& audio) const {
  const fs::path mark = unshared(audio);
  make_folder(mark.parent_path());
  const auto lock = locked(mark.parent_path());  // see share_uploads()
  if (!std::ofstream(mark, std::ios::app))
    throw Error(Code::failed, mark.native() + " cannot be written");
  std::error_code kept;
  fs::last_write_time(mark, fs::file_time_type::clock::now(), kept);
  sync_folder(mark.parent_path());
}

bool JobFiles::share(const std::string& audio, const std::function<bool()>& put) const {
  if (!sharing_.with([&](auto& names) { return names.insert(audio).second; })) return false;
  bool shared = false;
  std::exception_ptr problem;
  try {
    shared = put();
    std::error_code kept;
    if (shared) fs::remove(unshared(audio), kept);
  } catch (...) {
    problem = std::current_exception();
  }
  sharing_.with([&](auto& names) { names.erase(audio); });
  if (problem) std::rethrow_exception(problem);
  return shared;
}

bool JobFiles::share_upload(const std::string& audio, const std::stop_token& stop) const {
  return share(audio,
               [&] { return bucket_->put(JobBucket::upload_key(audio), upload(audio), stop); });
}

void JobFiles::ensure_shared(const std::string& audio, const std::stop_token& stop) const {
  if (!bucket_ || audio.empty()) return;
  const auto look = [&] {
    using Found = JobBucket::Found;
    const std::string key = JobBucket::upload_key(audio);
    std::uint64_t bytes = 0;
    const Found found = bucket_->size(key, bytes, stop);
    return found == Found::there ||
           (found == Found::missing && bucket_->put(key, upload(audio), stop));
  };
  if (!share(audio, look)) mark_unshared(audio);
}

void JobFiles::share_uploads(const InUse& in_use, const std::stop_token& stop) const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder_ / "unshared", error), end; !error && at != end;
       at.increment(error))
    names.push_back(at->path().filename().native());
  if (names.empty()) return;
  const std::set<std::string> needed = in_use();
  for (const std::string& audio : names) {
    if (stop.stop_requested()) return;
    forget_unshared(audio);
    try {
      // A bucket that has not answered is not asked for the next one.
      if (needed.contains(audio)) ensure_shared(audio, stop);
    } catch (const std::exception& problem) {
      log::warn("a job's speech cannot be brought to the bucket now",
                {{"sha256", audio}, {"error", problem.what()}});
    }
  }
}

// Speech that was removed since no job needs it. The mark of one that is being written is young.
void JobFiles::forget_unshared(const std::string& audio) const {
  const auto lock = locked(folder_ / "unshared");
  std::error_code error;
  const auto marked = fs::last_write_time(unshared(audio), error);
  if (error || marked > fs::file_time_type::clock::now() - k_upload_grace) return;
  if (!fs::exists(upload(audio), error) && !error) fs::remove(unshared(audio), error);
}

void JobFiles::share_again(const std::string& audio) const {
  std::error_code gone;
  if (!bucket_ || !fs::exists(upload(audio), gone)) return;
  mark_unshared(audio);  // it is brought there later where the bucket does not take it now
  share_upload(audio, {});
}

std::vector<JobId> JobFiles::with_segments() const {
  std::vector<JobId> jobs;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (fs::exists(at->path() / "segments", gone)) jobs.push_back({at->path().filename().native()});
  }
  return jobs;
}

// What has another name than a job's is none of ours.
std::vector<JobId> JobFiles::with_folders(Duration age) const {
  const auto is_id = [](const std::string& name) {
    return name.size() == k_id_length &&
           name.find_first_not_of("0123456789abcdef") == std::string::npos;
  };
  std::vector<JobId> jobs;
  std::error_code error;
  const auto before = fs::file_time_type::clock::now() - age;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const std::string name = at->path().filename().native();
    if (is_id(name) && at->is_directory(gone) && at->last_write_time(gone) <= before && !gone)
      jobs.push_back({name});
  }
  return jobs;
}

std::vector<JobId> JobFiles::with_results() const {
  std::vector<JobId> jobs;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code none;
    for (fs::directory_iterator file(at->path(), none), last; !none && file != last;
         file.increment(none)) {
      if (file->path().stem() == k_result) jobs.push_back({at->path().filename().native()});
    }
  }
  return jobs;
}

bool JobFiles::obtain(const JobId& job, const std::string& audio, std::size_t segments,
                      const std::stop_token& stop) const {
  using Found = JobBucket::Found;
  prepare(job);
  if (!audio.empty()) {
    make_folder(upload(audio).parent_path());
    remove_damaged(audio);
    if (bucket_->fetch(JobBucket::upload_key(audio), upload(audio), stop) == Found::unreachable)
      return false;
  }
  for (std::size_t i = 0; i < segments; ++i) {
    const int index = static_cast<int>(i);
    const Found found =
        bucket_->fetch(JobBucket::segment_key(job, index), segment(job, index), stop);
    if (found != Found::there) return found == Found::missing;
  }
  return true;
}

bool JobFiles::share_segment(const JobId& job, int index, const std::stop_token& stop) const {
  return bucket_->put(JobBucket::segment_key(job, index), segment(job, index), stop);
}

bool JobFiles::share_result(const JobId& job, const std::string& format, const std::string& key,
                            const std::stop_token& stop) const {
  const fs::path file = result(job, format);
  if (!bucket_->put(key, file, stop)) return false;
  std::error_code error;
  fs::remove(file, error);
  if (fs::is_empty(file.parent_path(), error)) fs::remove(file.parent_path(), error);
  return true;
}

bool JobFiles::unshare(const std::vector<std::string>& keys, const std::stop_token& stop) const {
  return std::ranges::all_of(keys,
                             [&](const std::string& key) { return bucket_->remove(key, stop); });
}

std::string JobFiles::without_folder(std::string message) const {
  const std::string folder = (folder_ / "").native();
  for (auto at = message.find(folder); at != std::string::npos; at = message.find(folder))
    message.erase(at, folder.size());
  return message;
}

void JobFiles::prepare(const JobId& job) const {
  make_folder(folder_ / job.text);
  make_folder(folder_ / job.text / "segments");
}

fs::path JobFiles::segment(const JobId& job, int index) const {
  return folder_ / job.text / "segments" / fmt::format("{:06}.mp4", index);
}

fs::path JobFiles::result(const JobId& job, const std::string& format) const {
  return folder_ / job.text / (std::string(k_result) + "." + format);
}

PartialPath::Options JobFiles::incoming(const JobId& job, std::uint64_t epoch) const {
  return {.target = folder_ / job.text / "segments" / std::to_string(epoch), .overwrite = true};
}

void JobFiles::put(const fs::path& file, const fs::path& name) const {
  if (::rename(file.c_str(), name.c_str()) != 0)
    throw Error(Code::failed, name.native() + " cannot be written: " + system_message(errno));
  sync_folder(name.parent_path());
}

void JobFiles::remove_segments(const JobId& job) const {
  remove_folder(folder_ / job.text / "segments");
}

void JobFiles::remove(const JobId& job) const { remove_folder(folder_ / job.text); }

}  // namespace navtalk::server
