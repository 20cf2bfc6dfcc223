// A process, named so that others can tell whether it still lives: "host/pid/start". The start time
// tells it from a later process under the same id.
#pragma once

#include <string>

namespace navtalk {

std::string host_name();
std::string this_process();
// Certain only for processes of this host; of another host's it says false.
bool surely_dead(const std::string& owner);

}  // namespace navtalk
