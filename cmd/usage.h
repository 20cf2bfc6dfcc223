// Errors of the command line, with what the user should write instead.
#pragma once

#include <string>

#include "core/base/error.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace navtalk::cmd {

// Error{usage}: the parser's complaint, or better, the unknown word with the nearest known one; and
// which --help to read. `root` is as the failed parse left it.
Error usage_error(const CLI::App& root, const CLI::ParseError& complaint);

// The command that `root` parsed, as deep as it got: "navtalk model check".
const CLI::App& deepest(const CLI::App& root);
std::string full_name(const CLI::App& app);

}  // namespace navtalk::cmd
