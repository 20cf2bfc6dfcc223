#include "server/gateway/jobs/speech/speech_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/log/log.h"
#include "core/process/run.h"
#include "core/speech/markup.h"
#include "core/speech/voices.h"
#include "core/text/printable.h"
#include "server/gateway/jobs/speech/plain_wav.h"
#include "server/gateway/jobs/speech/plain_words.h"

namespace navtalk::server {
namespace {

constexpr int k_signalled = 128;  // RunResult::exit_status
constexpr std::size_t k_longest_message = 300;
constexpr const char* k_input = "/proc/self/fd/3";

// `what` was sent: "speech" or "text".
[[noreturn]] void refuse(std::string_view what, const std::string& rule,
                         const std::string& message) {
  throw Error(Code::invalid,
              fmt::format("the {} is refused by the rule {}: {}", what, rule, message));
}

// What the process says, a line each: first that it is confined, then what it found.
struct Said {
  bool confined = false;
  nlohmann::json found{};
};

Said said_by(const std::string& output) {
  Said said;
  const std::size_t end = output.find('\n');
  if (end == std::string::npos) return said;
  const auto first = nlohmann::json::parse(output.substr(0, end), nullptr, false);
  said.confined = first == nlohmann::json({{"confined", true}});
  said.found = nlohmann::json::parse(output.substr(end + 1), nullptr, false);
  return said;
}

// What strangers' bytes may have made of the process is taken for no more than it can be.
std::optional<std::string> text_of(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return printable_start(found->get<std::string>(), k_longest_message);
}

// The machine's fault, which is logged.
[[noreturn]] void blame_machine(std::string_view what, const std::string& why) {
  log::warn(what == "text" ? "a text could not be judged" : "speech could not be judged",
            {{"reason", why}});
  throw Error(Code::failed, fmt::format("the {} cannot be judged now: try again later", what));
}

[[noreturn]] void tell_of_stop(std::string_view what) {
  throw Error(Code::failed,
              fmt::format("the {} cannot be judged, since this gateway ends: try again", what));
}

// Where the program's libraries and espeak-ng are, if that needs to be said; and nothing else.
std::vector<std::string> kept_environment() {
  std::vector<std::string> kept;
  for (const char* name : {"LD_LIBRARY_PATH", "PATH", "ESPEAK_DATA_PATH"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr) kept.push_back(fmt::format("{}={}", name, value));
  }
  return kept;
}

// What the system does not let this process do, such as to make another one, is not shown: it names files.
std::optional<RunResult> ran_with(std::vector<std::string> command, std::string_view input,
                                  std::string_view what, std::chrono::milliseconds patience,
                                  const std::stop_token& stop) {
  if (stop.stop_requested()) tell_of_stop(what);
  try {
    const UniqueFd file = memory_file(input);
    return run_program({.command = std::move(command),
                        .extra = &file,
                        .environment = kept_environment(),
                        .within = patience},
                       stop);
  } catch (const Error& error) {
    if (stop.stop_requested()) tell_of_stop(what);
    blame_machine(what, error.message());
  }
}

bool ended_by_input(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
         signal == SIGABRT || signal == SIGXFSZ || signal == SIGSYS;
}

}  // namespace

double SpeechProbe::check_duration(double seconds) const {
  return check_duration(seconds, Kind::speech);
}

double SpeechProbe::check_duration(double seconds, Kind kind) const {
  if (seconds > options_.max_duration_s)
    refuse(name_of(kind), "duration",
           fmt::format("the {} longer than {:.0f} s (media.max_duration_s)",
                       kind == Kind::text ? "text is spoken for" : "speech lasts",
                       options_.max_duration_s));
  return seconds;
}

void SpeechProbe::check_whole(std::string_view speech) {
  if (const auto cut = cut_wav(speech))
    refuse(name_of(Kind::speech), "length",
           fmt::format("its header says {:.1f} s, and only {:.1f} s are there: the "
                       "recording or its upload was cut, so send it again",
                       cut->expected_s, cut->actual_s));
}

std::string_view SpeechProbe::name_of(Kind kind) { return kind == Kind::text ? "text" : "speech"; }

nlohmann::json SpeechProbe::found_by(const std::vector<std::string>& command,
                                     std::string_view input, Kind kind) const {
  const std::string_view what = name_of(kind);
  const auto ran = ran_with(command, input, what, options_.patience, stop_.get_token());
  if (!ran) blame_machine(what, options_.command[0] + " is gone");
  const auto [confined, found] = said_by(ran->output);
  if (!confined) blame_machine(what, printable_start(ran->errors, k_longest_message));
  if (ran->late) blame_machine(what, "it takes too long");
  const int signal = ran->exit_status - k_signalled;
  if (signal == SIGXCPU)
    refuse(
        what, "decoding",
        fmt::format("{} the {} takes more processor time than {:.0f} s of speech may "
                    "(media.max_duration_s)",
                    kind == Kind::text ? "speaking" : "decoding", what, options_.max_duration_s));
  if (ended_by_input(signal))
    refuse(what, "codec",
           fmt::format("its {} ended by signal {}", kind == Kind::text ? "reader" : "decoder",
                       signal));
  if (!found.is_object()) blame_machine(what, fmt::format("it ended with {}", ran->exit_status));
  if (const auto rule = text_of(found, "rule"))
    refuse(what, *rule, text_of(found, "message").value_or(""));
  if (ran->exit_status != 0) blame_machine(what, fmt::format("it ended with {}", ran->exit_status));
  return found;
}

double SpeechProbe::seconds_of(const nlohmann::json& found, Kind kind) const {
  const auto seconds = found.find("duration_s");
  if (seconds == found.end() || !seconds->is_number() || seconds->get<double>() < 0)
    blame_machine(name_of(kind), "it measured nothing");
  return check_duration(seconds->get<double>(), kind);
}

double SpeechProbe::measure(std::string_view speech) const {
  std::vector<std::string> command = options_.command;
  command.emplace_back(k_input);
  return seconds_of(found_by(command, speech, Kind::speech), Kind::speech);
}

// No voice takes longer for a byte; markup may ask for any pause.
bool SpeechProbe::may_be_long(const JobText& text) const {
  constexpr double k_most_s_a_byte = 1.5;
  return text.ssml ||
         static_cast<double>(text.text.size()) * k_most_s_a_byte > options_.max_duration_s;
}

// Where the first words are signs and tags alone, espeak-ng is asked: it speaks "+", and not "?".
bool SpeechProbe::may_be_silent(const JobText& text) {
  constexpr std::size_t k_looked_at = 1000;  // bytes; this is of the I/O thread
  const std::string plain = text.ssml ? without_tags(text.text) : without_ssml(text.text);
  return plain_words(std::string_view(plain).substr(0, k_looked_at)).empty();
}

bool SpeechProbe::takes_voice(const std::string& voice) const {
  if (voice.empty() || is_of_mbrola(voice)) return true;
  return voices_.with([&](const std::set<std::string>& known) { return known.contains(voice); });
}

bool SpeechProbe::knows(const JobText& text) const {
  return takes_voice(text.voice) && !may_be_long(text) && !may_be_silent(text);
}

void SpeechProbe::check_voice(const std::string& voice) const {
  constexpr std::size_t k_most_voices = 1000;
  constexpr std::chrono::milliseconds k_patience{30'000};
  const EspeakLimits limits{.environment = kept_environment(),
                            .within = std::min(k_patience, options_.patience)};
  if (const auto unknown = unknown_voice(voice, stop_.get_token(), limits))
    throw Error(Code::invalid, "the text is refused by the rule voice: " + *unknown);
  voices_.with([&](std::set<std::string>& known) {
    if (known.size() < k_most_voices) known.insert(voice);
  });
}

std::optional<double> SpeechProbe::speak(const JobText& text) const {
  if (stop_.stop_requested()) tell_of_stop(name_of(Kind::text));
  try {
    if (!takes_voice(text.voice)) check_voice(text.voice);
  } catch (const Error& error) {
    if (stop_.stop_requested()) tell_of_stop(name_of(Kind::text));
    if (error.code() == Code::invalid) throw;
    return std::nullopt;  // espeak-ng is not here, or does not answer
  }
  const bool voice_known = !text.voice.empty() || !text.avatar_voice.empty();
  if (!voice_known || (!may_be_long(text) && !may_be_silent(text))) return std::nullopt;
  const nlohmann::json found = found_by(command_of(text), text.text, Kind::text);
  if (found.contains("unspoken")) return std::nullopt;
  return seconds_of(found, Kind::text);
}

std::vector<std::string> SpeechProbe::command_of(const JobText& text) const {
  std::vector<std::string> command = options_.command;
  command.emplace_back("--text");
  if (text.ssml) command.emplace_back("--ssml");
  command.insert(command.end(), {"--voice", text.voice.empty() ? text.avatar_voice : text.voice});
  command.emplace_back(k_input);
  return command;
}

}  // namespace navtalk::server
