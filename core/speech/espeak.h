// Runs espeak-ng as a process (it is GPL, so it is not linked). Stateless.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/process/run.h"
#include "core/speech/markup.h"

namespace navtalk {

// Otherwise than as run_program() has it.
struct EspeakLimits {
  std::optional<std::vector<std::string>> environment{};  // as in Run
  // Then it is killed, which is an Error{failed}.
  std::optional<std::chrono::milliseconds> within{};
};

// `sound`: what espeak-ng sees as /proc/self/fd/3, or null. Error{not_found} when espeak-ng is not
// installed, and how to install it.
RunResult run_espeak(std::vector<std::string> arguments, const std::string& input = {},
                     const UniqueFd* sound = nullptr, const std::stop_token& stop = {},
                     const EspeakLimits& limits = {});

// Error{failed} unless it ended well: its status, and what it said first.
void check_espeak(const RunResult& result);

// Whether that was asked of a voice that espeak-ng does not have, and what to say then.
bool lacks_voice(const RunResult& result);
std::string no_such_voice(const std::string& voice);

// Speaks UTF-8 into `sound`, an empty file or a pipe, as WAV: 16 bits, one channel. It may stay empty. No file that SSML names
// is opened. The result tells how espeak-ng ended. Error{not_found} as run_espeak(), and for a voice that does not exist; its variant is not looked at.
RunResult speak_into(const UniqueFd& sound, const std::string& text, const std::string& voice,
                     Markup markup, const std::stop_token& stop = {});

}  // namespace navtalk
