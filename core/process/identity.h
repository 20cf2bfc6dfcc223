// A process, named so that others can tell whether it still lives: "host/boot.namespace/pid/start".
// The start time tells it from a later process under the same id, the boot's id from one on another
// machine of that name, the namespace of process ids from one in another container.
#pragma once

#include <string>

namespace navtalk {

std::string host_name();
std::string this_process();
// Certain only for processes of this boot and namespace; of another's it says false.
bool surely_dead(const std::string& owner);

}  // namespace navtalk
