// What a worker asks of the process that renders its jobs (`navtalk job render`): one line of JSON.
#pragma once

#include <filesystem>
#include <map>
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
};

std::string as_line(const JobOrder& order);
// Error{invalid} for a line that as_line() did not write.
JobOrder parse_job_order(std::string_view line);

}  // namespace navtalk::server
