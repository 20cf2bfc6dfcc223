// navtalk job probe: what a gateway starts to have speech judged before it accepts a job. The file is opened first; then
// the process gives up all that decoding does not need, and only then reads what a stranger has sent.
#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <variant>

#include "cmd/commands.h"
#include "cmd/media_module/media_module.h"
#include "core/files/whole_file.h"
#include "core/process/confine.h"
#include "core/process/priority.h"
#include "server/gateway/jobs/speech/speech_probe.h"

namespace navtalk::cmd {
namespace {

// Decoding takes less than 100 MB beyond what is loaded.
constexpr std::uint64_t k_memory = 384 << 20, k_output = 64 << 10;  // bytes

struct ProbeOptions {
  std::filesystem::path file;
  double max_duration_s = MediaLimits{}.max_duration_s;
};

int tell(const MeasuredSound& sound, Context& context) {
  if (context.json) {
    context.out.json({{"codec", sound.codec},
                      {"rate_hz", sound.rate_hz},
                      {"channels", sound.channels},
                      {"duration_s", sound.duration_s}});
  } else {
    context.out.print("{}, {} Hz, {} channel{}, {:.2f} s\n", sound.codec, sound.rate_hz,
                      sound.channels, sound.channels == 1 ? "" : "s", sound.duration_s);
  }
  return 0;
}

int tell(const RefusedSound& refused, Context& context) {
  if (context.json) {
    context.out.json({{"rule", refused.rule}, {"message", refused.message}});
  } else {
    context.out.print("refused by the rule {}: {}\n", refused.rule, refused.message);
  }
  return 1;
}

int probe(const ProbeOptions& options, Context& context) {
  const MediaModule& media = media_module();
  UniqueFd file = open_input(options.file);
  yield_to_others();  // live sessions, which may be beside it
  confine({.memory = k_memory,
           .processor = server::most_processor_time(options.max_duration_s),
           .written = context.json ? k_output : 0});  // a person's file may be longer already
  if (context.json) {
    // Whatever ends this process from now on is what it reads.
    context.out.json({{"confined", true}});
    context.out.flush();
  }
  const auto found = media.measure_sound(std::move(file), "the speech",
                                         {.max_duration_s = options.max_duration_s}, context.stop);
  return std::visit([&](const auto& answer) { return tell(answer, context); }, found);
}

}  // namespace

void add_job_probe(Commands& commands) {
  const auto options = std::make_shared<ProbeOptions>();
  CLI::App& command =
      commands.add({.group = Group::job,
                    .name = "probe",
                    .summary = "Measure speech in a process that can do nothing else",
                    .examples = "  navtalk job probe speech.mp3\n",
                    .action = [options](Context& context) { return probe(*options, context); },
                    .needs_config = false});
  command
      .add_option("--max-duration", options->max_duration_s,
                  "Seconds beyond which speech is refused")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str()
      ->type_name("SECONDS");
  command.add_option("file", options->file, "The recording")->required()->type_name("FILE");
}

}  // namespace navtalk::cmd
