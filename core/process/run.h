// Runs another program to its end: no shell, input and outputs in memory, no terminal.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/unique_fd.h"

namespace navtalk {

struct Run {
  std::vector<std::string> command;  // the program is looked up in PATH
  std::string input = {};
  // The child sees this file as descriptor 3.
  const UniqueFd* extra = nullptr;
  std::optional<std::vector<std::string>> environment = {};  // NAME=value; nullopt: as this process
  std::optional<std::chrono::milliseconds> within = {};      // it is killed after that time
};

struct RunResult {
  int exit_status = 0;  // 128 + signal when a signal ended it
  std::string output, errors;
  bool late = false;  // killed since its time was over
};

// nullopt when there is no such program. A stop request kills it and throws as throw_if_stopped;
// Error{failed} when the system cannot run it.
std::optional<RunResult> run_program(const Run& run, const std::stop_token& stop);

// A file in memory, closed on exec.
UniqueFd memory_file(std::string_view content = {});
std::string content_of(const UniqueFd& file);

}  // namespace navtalk
