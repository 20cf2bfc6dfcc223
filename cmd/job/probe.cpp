// navtalk job probe: what a gateway starts to have speech judged before it accepts a job. The file is opened first; then
// the process gives up all that decoding does not need, and only then reads what a stranger has sent. With --text it has a text
// spoken, and counts the seconds.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <variant>

#include "cmd/commands.h"
#include "cmd/media_module/media_module.h"
#include "core/files/whole_file.h"
#include "core/process/confine.h"
#include "core/process/priority.h"
#include "core/speech/spoken_length.h"
#include "server/gateway/jobs/speech/speech_probe.h"

namespace navtalk::cmd {
namespace {

// Decoding takes less than 100 MB beyond what is loaded.
constexpr std::uint64_t k_memory = 384 << 20, k_output = 64 << 10;  // bytes

struct ProbeOptions {
  std::filesystem::path file;
  bool text = false, ssml = false;
  std::string voice = "en-us";
  double max_duration_s = MediaLimits{}.max_duration_s;
};

// Its sound goes to a pipe, but the library through which it might play it sizes a file of 64 MiB in memory.
constexpr std::uint64_t k_written_by_espeak = 80 << 20;

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

// Whatever ends this process from now on is what it reads.
void tell_confined(Context& context) {
  if (!context.json) return;
  context.out.json({{"confined", true}});
  context.out.flush();
}

int tell_spoken(double duration_s, Context& context) {
  if (context.json) {
    context.out.json({{"duration_s", duration_s}});
  } else {
    context.out.print("{:.2f} s\n", duration_s);
  }
  return 0;
}

// What cannot be spoken here may be spoken elsewhere, and a worker tells why it cannot: that is for the gateway no error.
int tell_unspoken(const Error& why, Context& context) {
  if (!context.json) throw why;
  context.out.json({{"unspoken", why.message()}});
  return 0;
}

// espeak-ng is the file of the system's, so this process may open files and start one, and its limits hold for that.
int speak(const ProbeOptions& options, Context& context) {
  const std::vector<std::uint8_t> bytes = read_file(options.file);
  const std::string text(bytes.begin(), bytes.end());
  yield_to_others();
  confine({.calls = SystemCalls::of_renderer,
           .memory = k_memory,
           .processor = server::most_processor_time(options.max_duration_s),
           .written = k_written_by_espeak,
           .filter_required = false});
  tell_confined(context);
  const Markup markup = options.ssml ? Markup::ssml : Markup::none;
  const auto [duration_s, silent, too_long, ran] =
      measure_spoken(text, options.voice, markup, options.max_duration_s, context.stop);
  if (too_long || ran.exit_status == 128 + SIGXCPU)
    return tell(RefusedSound{.rule = "duration",
                             .message = fmt::format("the text is spoken for longer than {:.0f} s "
                                                    "(media.max_duration_s)",
                                                    options.max_duration_s)},
                context);
  if (ran.exit_status != 0)
    return tell_unspoken(
        {Code::failed, fmt::format("espeak-ng ended with status {}", ran.exit_status)}, context);
  if (silent)
    return tell(RefusedSound{.rule = "silence", .message = "it holds nothing that can be spoken"},
                context);
  return tell_spoken(duration_s, context);
}

int speak_if_possible(const ProbeOptions& options, Context& context) {
  try {
    return speak(options, context);
  } catch (const Error& error) {
    if (error.code() != Code::not_found) throw;
    return tell_unspoken(error, context);
  }
}

int probe(const ProbeOptions& options, Context& context) {
  if (options.text) return speak_if_possible(options, context);
  const MediaModule& media = media_module();
  UniqueFd file = open_input(options.file);
  yield_to_others();  // live sessions, which may be beside it
  confine({.memory = k_memory,
           .processor = server::most_processor_time(options.max_duration_s),
           .written = context.json ? k_output : 0});  // a person's file may be longer already
  tell_confined(context);
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
  command.add_flag("--text", options->text, "The file is a text: measure how long it is spoken");
  command.add_option("--voice", options->voice, "Voice of the text")
      ->capture_default_str()
      ->type_name("VOICE");
  command.add_flag("--ssml", options->ssml, "The text is SSML");
  command.add_option("file", options->file, "The recording, or the text")
      ->required()
      ->type_name("FILE");
}

}  // namespace navtalk::cmd
