// Whether a stream is a terminal that wants colour.
#pragma once

namespace navtalk::cmd {

bool is_terminal(int descriptor);
// no_color (the flag), NO_COLOR, CLICOLOR_FORCE, CLICOLOR=0, TERM=dumb, in this order; else the
// terminal decides.
bool wants_colour(int descriptor, bool no_color);

}  // namespace navtalk::cmd
