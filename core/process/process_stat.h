// What /proc/PID/stat says of a process. Linux only. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace navtalk {

struct ProcessStat {
  char state = '?';                   // 'Z' and 'X': it has ended
  std::uint64_t processor_ticks = 0;  // in user and system mode, in clock ticks
  int threads = 0;
  std::uint64_t start_ticks = 0;  // since boot, in clock ticks
  std::uint64_t resident_pages = 0;
};

// Of that file's text; nullopt for other text.
std::optional<ProcessStat> parse_process_stat(const std::string& text);

}  // namespace navtalk
