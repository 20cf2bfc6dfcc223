#include "cmd/render_module/infer/utterances.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "core/base/error.h"
#include "core/files/whole_file.h"
#include "core/process/run.h"
#include "core/process/stream_input.h"
#include "core/text/trim.h"

namespace navtalk::cmd {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t k_most_text_bytes = 1'000'000;

std::string text_of(const fs::path& file, const std::stop_token& stop) {
  if (is_stream(file)) return content_of(read_stream(file, k_most_text_bytes, stop));
  const std::vector<std::uint8_t> bytes = read_file(file);
  return {bytes.begin(), bytes.end()};
}

std::vector<std::string> paragraphs_of(std::string_view text) {
  std::vector<std::string> paragraphs;
  std::string current;
  const auto end_paragraph = [&] {
    if (!current.empty()) paragraphs.push_back(std::move(current));
    current.clear();
  };
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string line(trim(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) {
      end_paragraph();
    } else {
      current += (current.empty() ? "" : "\n") + line;
    }
  }
  end_paragraph();
  return paragraphs;
}

// One text, whose elements may hold empty lines.
std::vector<std::string> whole(std::string_view text) {
  const std::string_view document = trim(text);
  return document.empty() ? std::vector<std::string>() : std::vector{std::string(document)};
}

std::string stem_of(const fs::path& input) {
  return is_stream(input) ? "speech" : input.stem().string();
}

// Streams have no names of their own: several of them are numbered.
std::vector<Utterance> recordings(const std::vector<fs::path>& audio) {
  if (std::ranges::count(audio, fs::path("-")) > 1)
    throw Error(Code::usage, "--audio - stands for standard input, which is read once");
  const bool several = std::ranges::count_if(audio, is_stream) > 1;
  std::vector<Utterance> inputs;
  int streams = 0;
  for (const fs::path& file : audio) {
    std::string output = stem_of(file);
    if (several && is_stream(file)) output += fmt::format("-{:02}", ++streams);
    inputs.push_back({.audio = file, .output = output, .name = stream_name(file)});
  }
  return inputs;
}

std::vector<Utterance> inputs_of(const InferOptions& options, const std::stop_token& stop) {
  if (!options.text.empty())
    return {{.text = options.text, .output = "speech", .name = "the text"}};
  if (options.text_file.empty()) return recordings(options.audio);
  std::vector<Utterance> inputs;
  const std::string content = text_of(options.text_file, stop);
  for (std::string& text : options.ssml ? whole(content) : paragraphs_of(content)) {
    const std::size_t number = inputs.size() + 1;
    inputs.push_back(
        {.text = std::move(text),
         .output = fmt::format("{}-{:02}", stem_of(options.text_file), number),
         .name = fmt::format("text {} of {}", number, stream_name(options.text_file))});
  }
  if (inputs.empty()) throw Error(Code::invalid, stream_name(options.text_file) + " holds no text");
  return inputs;
}

void name_in_folder(std::vector<Utterance>& inputs, const InferOptions& options) {
  std::map<fs::path, fs::path> taken;
  for (Utterance& input : inputs) {
    input.output = options.output_directory / (input.output.string() + "." + options.format);
    const auto [at, fresh] = taken.emplace(input.output, input.audio);
    if (!fresh)
      throw Error(Code::usage, fmt::format("{} and {} would both become {}", at->second.string(),
                                           input.audio.string(), input.output.string()));
  }
}

}  // namespace

std::vector<Utterance> list_utterances(const InferOptions& options, const std::string& avatar_id,
                                       const std::stop_token& stop) {
  std::vector<Utterance> inputs = inputs_of(options, stop);
  if (!options.output_directory.empty()) {
    name_in_folder(inputs, options);
    return inputs;
  }
  if (inputs.size() > 1)
    throw Error(Code::usage,
                fmt::format("{} inputs make {} videos: name their folder with --output-dir",
                            inputs.size(), inputs.size()));
  inputs.front().output = options.output;
  if (options.output.empty() && options.frames.empty()) inputs.front().output = avatar_id + ".mp4";
  return inputs;
}

}  // namespace navtalk::cmd
