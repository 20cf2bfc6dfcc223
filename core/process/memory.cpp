#include "core/process/memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/process/proc_file.h"
#include "core/process/process_stat.h"
#include "core/text/number.h"

namespace navtalk {
namespace fs = std::filesystem;

namespace {

// The files of one version of control groups.
struct GroupFiles {
  const char* limit;
  const char* used;
  const char* reclaimable;  // the field of memory.stat
};
constexpr GroupFiles k_version_1{.limit = "memory.limit_in_bytes",
                                 .used = "memory.usage_in_bytes",
                                 .reclaimable = "total_inactive_file"};
constexpr GroupFiles k_version_2{
    .limit = "memory.max", .used = "memory.current", .reclaimable = "inactive_file"};

// The number behind a word at the beginning of a line: "MemTotal: 123 kB".
std::optional<std::uint64_t> field(const fs::path& file, const std::string& name) {
  std::ifstream from(file);
  for (std::string line; std::getline(from, line);) {
    std::istringstream words(line);
    std::string word;
    std::uint64_t number = 0;
    if (words >> word >> number && word == name) return number;
  }
  return std::nullopt;
}

// Not a number: "max", or no such file.
std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::ifstream from(file);
  std::string word;
  if (!(from >> word)) return std::nullopt;
  return parse_number<std::uint64_t>(word);
}

std::optional<MemoryRoom> room_of_machine(const fs::path& proc) {
  constexpr std::uint64_t k_kib = 1024;
  const auto total = field(proc / "meminfo", "MemTotal:");
  const auto available = field(proc / "meminfo", "MemAvailable:");
  if (!total || !available) return std::nullopt;
  return MemoryRoom{.total = *total * k_kib,
                    .used = (*total - std::min(*total, *available)) * k_kib};
}

std::optional<MemoryRoom> room_of_group(const fs::path& folder, const GroupFiles& files) {
  const auto limit = number_in(folder / files.limit), used = number_in(folder / files.used);
  if (!limit || !used) return std::nullopt;
  const std::uint64_t reclaimable = field(folder / "memory.stat", files.reclaimable).value_or(0);
  return MemoryRoom{.total = *limit, .used = *used - std::min(*used, reclaimable)};
}

std::uint64_t left(const MemoryRoom& room) { return room.total - std::min(room.total, room.used); }

void take_tighter(std::optional<MemoryRoom>& found, const std::optional<MemoryRoom>& other) {
  if (other && (!found || left(*other) < left(*found))) found = other;
}

// A group and those that it is in. In a container the path may be the host's, and only the root is there.
void add_groups(std::optional<MemoryRoom>& found, const fs::path& root, fs::path group,
                const GroupFiles& files) {
  for (;;) {
    take_tighter(found, room_of_group(root / group, files));
    if (group.empty()) return;
    group = group.parent_path();
  }
}

}  // namespace

std::optional<MemoryRoom> memory_room(const MemoryPlaces& places) {
  std::optional<MemoryRoom> found = room_of_machine(places.proc);
  std::ifstream groups(places.proc / "self" / "cgroup");
  for (std::string line; std::getline(groups, line);) {  // "4:memory:/a/b", "0::/a/b"
    const std::size_t names = line.find(':'), path = line.find(':', names + 1);
    if (names == std::string::npos || path == std::string::npos) continue;
    const fs::path group = fs::path(line.substr(path + 1)).relative_path();
    const std::string controllers = "," + line.substr(names + 1, path - names - 1) + ",";
    if (controllers == ",,") add_groups(found, places.groups, group, k_version_2);
    if (controllers.find(",memory,") != std::string::npos)
      add_groups(found, places.groups / "memory", group, k_version_1);
  }
  return found;
}

std::optional<std::uint64_t> resident_bytes(pid_t process) {
  const auto text = read_proc_file("/proc/" + std::to_string(process) + "/stat");
  const auto stat = text ? parse_process_stat(*text) : std::nullopt;
  if (!stat || stat->state == 'Z' || stat->state == 'X') return std::nullopt;
  return stat->resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace navtalk
