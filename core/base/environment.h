// The process's environment. Thread-safe while nobody changes it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace navtalk {

// In a local worker's environment: the process that started it (core/process/identity.h). Not a
// configuration key, although its name looks like one.
inline constexpr std::string_view k_started_by = "NAVTALK_STARTED_BY";

// A variable's value, of one that was withdrawn, too; empty when it is not set.
std::string environment_value(const char* name);
// Keeps variables that hold secrets in memory alone: they are not in /proc/PID/environ any more,
// and no child inherits them. Call it before there are other threads, which may read the environment.
void withdraw_from_environment(std::span<const char* const> names);
// "NAME=value" of all variables but those that begin with one of these, for a child: "PG" leaves all of PostgreSQL's out,
// "HOME=" one.
std::vector<std::string> environment_without(std::span<const std::string_view> beginnings);

}  // namespace navtalk
