// Runs espeak-ng as a process (it is GPL, so it is not linked). Stateless.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "core/process/run.h"

namespace navtalk {

// `sound`: what espeak-ng sees as /proc/self/fd/3, or null. Error{not_found} when espeak-ng is not
// installed, and how to install it.
RunResult run_espeak(std::vector<std::string> arguments, const std::string& input = {},
                     const UniqueFd* sound = nullptr, const std::stop_token& stop = {});

}  // namespace navtalk
