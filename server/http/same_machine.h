// Does a request come from this machine, as far as its headers tell? A browser here runs pages from
// anywhere: their Origin, or the name that they made point here (Host), gives them away. Pure.
#pragma once

#include <string_view>

namespace navtalk::server {

// The value of a Host header: "localhost", or a loopback address as a number, with or without a
// port. A DNS name never, however it begins: whoever owns it decides where it leads.
bool is_this_machine(std::string_view host);
// The value of an Origin header: http or https, and such a host.
bool is_page_of_this_machine(std::string_view origin);

}  // namespace navtalk::server
