// Whether an IP address is one of the public internet. Stateless.
#pragma once

#include <sys/socket.h>

namespace navtalk {

// False: loopback, private and link-local networks, shared and reserved ones, multicast (the special
// purpose registries of IANA), and IPv6 addresses that hold such an IPv4 address; and what is not IP.
bool is_public(const sockaddr& address, socklen_t length);

}  // namespace navtalk
