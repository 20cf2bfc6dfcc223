// The shared objects that hold what only some commands need. They fit the program only if they were built together.
#pragma once

#include <string_view>

namespace navtalk::cmd {

// The function `entry` of lib/navtalk/FILE beside the program, which stays loaded. Error{failed} names the file that is
// missing or broken.
void* load_module(std::string_view file, const char* entry);
// Error{failed} when that module belongs to another build than the program.
void check_build(std::string_view file, const char* build_id);

}  // namespace navtalk::cmd
