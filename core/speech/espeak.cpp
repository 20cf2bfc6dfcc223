#include "core/speech/espeak.h"

#include <utility>

#include "core/base/error.h"

namespace navtalk {

RunResult run_espeak(std::vector<std::string> arguments, const std::string& input,
                     const UniqueFd* sound, const std::stop_token& stop) {
  arguments.insert(arguments.begin(), "espeak-ng");
  std::optional<RunResult> result =
      run_program({.command = std::move(arguments), .input = input, .extra = sound}, stop);
  if (!result)
    throw Error(Code::not_found,
                "speaking text needs espeak-ng, which is not installed: apt install espeak-ng");
  return *std::move(result);
}

}  // namespace navtalk
