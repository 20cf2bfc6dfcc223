// What `navtalk infer` renders: one video for each recording or text. Private to the command.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "cmd/infer/infer.h"

namespace navtalk::cmd {

struct Utterance {
  std::filesystem::path audio{};   // a recording, or a stream (core/process/stream_input.h)
  std::string text{};              // spoken where there is no recording
  std::filesystem::path output{};  // empty: no video
  std::string name{};              // of the input, in messages
};

// In the order in which they were given, each with the name of its own output. Reads --text-file:
// its paragraphs, which empty lines part, are texts; with --ssml all of it is one. Error{usage} for several inputs without
// --output-dir, or two with one output; errors of reading the file.
std::vector<Utterance> list_utterances(const InferOptions& options, const std::string& avatar_id,
                                       const std::stop_token& stop);

}  // namespace navtalk::cmd
