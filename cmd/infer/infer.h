// What `navtalk infer` was asked for. Private to cmd/.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cmd/context.h"
#include "cmd/net_placement.h"
#include "core/base/frame_rate.h"

namespace CLI {
class App;
}
namespace navtalk::server {
class FaceClient;
}

namespace navtalk::cmd {

struct InferOptions {
  std::string avatar = "ada", text, voice, device = "auto", precision = "auto", format = "mp4",
              size;
  std::string subtitles;                     // srt, vtt or burn; empty: none
  std::vector<std::filesystem::path> audio;  // "-": standard input
  std::filesystem::path text_file, output, output_directory, frames, models;
  std::filesystem::path avatar_directory;  // what `avatar` names, once it is known
  std::vector<std::string> sources;        // model stores; empty: those of the configuration
  int threads = 0, batch = 0, kbit_per_s = 0;
  NetPlacement placement{};
  std::optional<FrameRate> fps;  // nullopt: the avatar's
  std::optional<double> crf, duration_s;
  double start_s = 0;
  std::optional<double> sharpen;                       // nullopt: as the avatar says
  bool match_colour = false, no_match_colour = false;  // neither: as the avatar says
  bool force = false, ssml = false;
  std::shared_ptr<server::FaceClient>
      faces{};  // of the worker that draws them; nullptr: the model does
};

// Every option of the command, with its checks; and those that concern the model and its device.
void add_infer_options(CLI::App& command, InferOptions& options);
void add_infer_engine_options(CLI::App& command, InferOptions& options);
// What can be told of one input without the module: Error{usage} for what does not go together,
// Error{not_found} for what is not there. Sets `avatar_directory`.
void check_infer_options(InferOptions& options, const Context& context);

}  // namespace navtalk::cmd
