// The navtalk command: global options, subcommands, exit status.
#pragma once

namespace navtalk::cmd {

// Parses the command line, runs the command, prints errors, returns the exit status.
int run(int argc, char** argv);

}  // namespace navtalk::cmd
