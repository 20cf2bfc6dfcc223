#include "core/speech/espeak.h"

#include <utility>

#include "core/base/error.h"

namespace navtalk {

RunResult run_espeak(std::vector<std::string> arguments, const std::string& input,
                     const UniqueFd* sound, const std::stop_token& stop,
                     const EspeakLimits& limits) {
  arguments.insert(arguments.begin(), "espeak-ng");
  std::optional<RunResult> result = run_program({.command = std::move(arguments),
                                                 .input = input,
                                                 .extra = sound,
                                                 .environment = limits.environment,
                                                 .within = limits.within},
                                                stop);
  if (!result)
    throw Error(Code::not_found,
                "speaking text needs espeak-ng, which is not installed: apt install espeak-ng");
  if (result->late) throw Error(Code::failed, "espeak-ng takes too long");
  return *std::move(result);
}

void check_espeak(const RunResult& result) {
  if (result.exit_status == 0) return;
  throw Error(Code::failed, "espeak-ng failed with status " + std::to_string(result.exit_status) +
                                ": " + result.errors.substr(0, result.errors.find('\n')));
}

bool lacks_voice(const RunResult& result) {
  return result.errors.find("voice does not exist") != std::string::npos;
}

std::string no_such_voice(const std::string& voice) {
  return "espeak-ng has no voice \"" + voice + "\": see navtalk voices";
}

RunResult speak_into(const UniqueFd& sound, const std::string& text, const std::string& voice,
                     Markup markup, const std::stop_token& stop) {
  // -b 1: the text is UTF-8, whatever the locale.
  std::vector<std::string> arguments = {"-b", "1", "-v", voice, "--stdin", "-w", "/proc/self/fd/3"};
  if (markup == Markup::ssml) arguments.emplace_back("-m");
  const std::string spoken = markup == Markup::ssml ? without_sounds(text) : without_ssml(text);
  RunResult result = run_espeak(std::move(arguments), without_commands(spoken), &sound, stop);
  if (lacks_voice(result)) throw Error(Code::not_found, no_such_voice(voice));
  return result;
}

}  // namespace navtalk
