#include "server/gateway/jobs/speech/speech_probe.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/log/log.h"
#include "core/process/run.h"
#include "core/text/printable.h"

namespace navtalk::server {
namespace {

constexpr int k_signalled = 128;  // RunResult::exit_status
constexpr std::size_t k_longest_message = 300;

[[noreturn]] void refuse(const std::string& rule, const std::string& message) {
  throw Error(Code::invalid,
              fmt::format("the speech is refused by the rule {}: {}", rule, message));
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
[[noreturn]] void blame_machine(const std::string& why) {
  log::warn("speech could not be judged", {{"reason", why}});
  throw Error(Code::failed, "the speech cannot be judged now: try again later");
}

[[noreturn]] void tell_of_stop() {
  throw Error(Code::failed, "the speech cannot be judged, since this gateway ends: try again");
}

// Where the program's libraries are, if that needs to be said; and nothing else.
std::vector<std::string> kept_environment() {
  constexpr const char* k_kept = "LD_LIBRARY_PATH";
  const char* const value = std::getenv(k_kept);
  if (value == nullptr) return {};
  return {fmt::format("{}={}", k_kept, value)};
}

// What the system does not let this process do, such as to make another one, is not shown: it names files.
std::optional<RunResult> ran_with(std::vector<std::string> command, std::string_view speech,
                                  std::chrono::milliseconds patience, const std::stop_token& stop) {
  if (stop.stop_requested()) tell_of_stop();
  try {
    const UniqueFd file = memory_file(speech);
    return run_program({.command = std::move(command),
                        .extra = &file,
                        .environment = kept_environment(),
                        .within = patience},
                       stop);
  } catch (const Error& error) {
    if (stop.stop_requested()) tell_of_stop();
    blame_machine(error.message());
  }
}

bool ended_by_input(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
         signal == SIGABRT || signal == SIGXFSZ || signal == SIGSYS;
}

}  // namespace

double SpeechProbe::check_duration(double seconds) const {
  if (seconds > options_.max_duration_s)
    refuse("duration", fmt::format("the speech lasts longer than {:.0f} s (media.max_duration_s)",
                                   options_.max_duration_s));
  return seconds;
}

double SpeechProbe::measure(std::string_view speech) const {
  std::vector<std::string> command = options_.command;
  command.emplace_back("/proc/self/fd/3");
  const auto ran = ran_with(std::move(command), speech, options_.patience, stop_.get_token());
  if (!ran) blame_machine(options_.command[0] + " is gone");
  const auto [confined, found] = said_by(ran->output);
  if (!confined) blame_machine(printable_start(ran->errors, k_longest_message));
  if (ran->late) blame_machine("it takes too long");
  const int signal = ran->exit_status - k_signalled;
  if (signal == SIGXCPU)
    refuse("decoding",
           fmt::format("decoding the speech takes more processor time than {:.0f} s of speech may "
                       "(media.max_duration_s)",
                       options_.max_duration_s));
  if (ended_by_input(signal))
    refuse("codec", fmt::format("its decoder ended by signal {}", signal));
  if (!found.is_object()) blame_machine(fmt::format("it ended with {}", ran->exit_status));
  if (const auto rule = text_of(found, "rule"))
    refuse(*rule, text_of(found, "message").value_or(""));
  const auto seconds = found.find("duration_s");
  if (ran->exit_status != 0 || seconds == found.end() || !seconds->is_number() ||
      seconds->get<double>() < 0)
    blame_machine(fmt::format("it ended with {}", ran->exit_status));
  return check_duration(seconds->get<double>());
}

}  // namespace navtalk::server
