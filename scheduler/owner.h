// A process, named so that others can tell whether it still lives: "host/namespace/pid/start". The
// start time tells it from a later process under the same id, the namespace of process ids from one
// in another container of a host of that name.
#pragma once

#include <string>

namespace navtalk {

std::string host_name();
std::string this_process();
// Certain only for processes of this host and namespace; of another's it says false.
bool surely_dead(const std::string& owner);

}  // namespace navtalk
