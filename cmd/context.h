// What every command gets. Made by run() before the command line is parsed; `config`, `stop` and
// `progress` are ready when the command's action runs, not while its options are declared.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

#include "cmd/terminal/output.h"
#include "core/base/progress.h"
#include "core/config/config.h"

namespace navtalk::cmd {

class FetchedArtifacts;

struct Context {
  Output out;                      // standard output: results only; messages go to the log
  bool json = false;               // print one JSON object instead of text
  bool colour = false;             // standard output is a terminal that may be coloured
  Config config{};                 // file and environment; the command lays its own flags over it
  ConfigReading config_reading{};  // the same with its origins
  std::optional<std::filesystem::path> config_option{};  // --config
  std::function<ConfigReading()> reread_config{};        // as it was read at the start
  // What this process has fetched from model stores: cmd/artifacts/model_store.h.
  std::shared_ptr<FetchedArtifacts> fetched{};
  std::stop_token stop{};  // Ctrl-C and SIGTERM: see core/base/interrupt.h
  std::function<void(std::function<void()>)> on_hangup{};  // SignalStop::on_hangup()
  Progress progress{};  // a bar on a terminal, lines in a pipe, or JSON: --progress
  // The same for work that is measured in the length of its video.
  std::function<void(std::string_view stage, std::chrono::milliseconds done,
                     std::chrono::milliseconds total)>
      video_progress{};
  // Before anything else is shown while the work goes on: erases the bar, which comes back with the
  // next progress.
  std::function<void()> clear_progress{};
};

// The work of a command: returns its exit status (0, or 1 for "done, but the answer is no", such as
// a verification out of tolerance), throws Error for everything else.
using Action = std::function<int(Context&)>;

}  // namespace navtalk::cmd
