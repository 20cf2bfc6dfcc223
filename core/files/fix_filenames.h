// Takes carriage returns out of the names of files and folders below a folder: what is left behind
// when names were written on Windows or read from a file with CRLF lines.
//
//     folder/            visited depth first; a folder's own name is repaired after its contents
//       a\r        ->  a
//       b\rc\r     ->  bc
//       d, d\r     ->  d\r stays: `d` is there, nothing is ever overwritten
//       \r, .\r    ->  stay: the name would be empty, "." or ".."
//
// Symbolic links are not followed (their own names are repaired); the top folder keeps its name.
// Memory and open files stay bounded however deep the tree is.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

namespace navtalk {

struct FixedName {
  enum class Outcome { renamed, collision, no_name_left, failed };
  std::string from, to;  // paths below the folder; `to` is empty where no name is left
  Outcome outcome = Outcome::renamed;
  std::string reason;  // why it was left, in words; empty when renamed
};
std::string_view name(FixedName::Outcome outcome);

struct FixFilenamesResult {
  std::size_t seen = 0;     // files and folders looked at
  std::size_t renamed = 0;  // or would be, in a dry run
  std::size_t left = 0;     // names that could not be repaired and folders that could not be read
};

struct FixFilenamesOptions {
  std::filesystem::path directory;
  bool dry_run = false;  // changes nothing, reports what would happen
};

// Calls `report` for every name that was repaired or left, in a fixed order, and `seen` now and
// then. Error{not_found} when it does not exist, Error{invalid} when it is not a folder,
// Error{interrupted} or {terminated} through `stop`: every single rename is whole.
FixFilenamesResult fix_filenames(const FixFilenamesOptions& options,
                                 const std::function<void(const FixedName&)>& report,
                                 const std::function<void(std::size_t)>& seen = {},
                                 const std::stop_token& stop = {});

// The name without its carriage returns.
std::string without_carriage_returns(std::string_view name);

}  // namespace navtalk
