// Runs the built navtalk as a user does: through the shell.
#pragma once

#include <string>

namespace navtalk::tests {

struct Ran {
  int status = 0;  // 128 + N after signal N, as the shell counts
  std::string out, err;
};

// `script` for bash; "navtalk" is the built binary, standard input is empty, the folder is
// `folder`. NAVTALK_* and colour variables of the caller do not reach it. Throws the report of a
// sanitizer that stopped a program.
Ran shell(const std::string& script, const std::string& folder = "/");

bool contains(const std::string& text, const std::string& part);

}  // namespace navtalk::tests
