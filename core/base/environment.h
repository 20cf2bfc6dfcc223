// The process's environment. Thread-safe while nobody changes it.
#pragma once

#include <span>
#include <string>

namespace navtalk {

// A variable's value, of one that was withdrawn, too; empty when it is not set.
std::string environment_value(const char* name);
// Keeps variables that hold secrets in memory alone: they are not in /proc/PID/environ any more,
// and no child inherits them. Call it before there are other threads, which may read the environment.
void withdraw_from_environment(std::span<const char* const> names);

}  // namespace navtalk
