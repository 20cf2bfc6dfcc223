// The identity of a process, so that others can tell whether it still lives:
// "host/boot.namespace/pid/start". The start time tells it from a later process under the same id,
// the boot's id from one on another machine of that name, the namespace of process ids from one in
// another container.
#pragma once

#include <string>

namespace navtalk {

std::string host_name();
std::string this_process();
// True only for certain: a process of this boot and namespace that has ended. Of other machines and
// containers it says false. Error{failed} when no file descriptor is left to look with.
bool is_dead(const std::string& process);
// True when these two run on different machines or in different containers, so that neither sees the
// other's processes. False for text that names no process.
bool are_apart(const std::string& process, const std::string& other);

}  // namespace navtalk
