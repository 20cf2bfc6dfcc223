// What a worker tells the process that renders its jobs (`navtalk job render`), a line of JSON each: an order,
// and which segments are recorded.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace navtalk::server {

struct JobOrder {
  std::string avatar{};                              // its id
  std::filesystem::path audio{};                     // empty: `text` is spoken
  std::string text{}, voice{};                       // UTF-8
  std::map<std::string, std::string> options{};      // infer's, of one video, by name
  std::filesystem::path output{}, segment_folder{};  // absolute
  std::vector<std::string> segment_records{};        // of the segments in the folder, by index
  bool waits = false;                                // behind each segment, until it is recorded
};

std::string as_line(const JobOrder& order);
// Error{invalid} for a line that as_line() did not write.
JobOrder parse_job_order(std::string_view line);
std::string recorded_line(int segment);
// nullopt for a line that recorded_line() did not write.
std::optional<int> parse_recorded_line(std::string_view line);

}  // namespace navtalk::server
