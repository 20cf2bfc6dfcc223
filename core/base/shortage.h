// What this process or its machine has run out of: descriptors, ports, memory of the kernel. A call
// that fails for it says nothing about the peer, so nobody else is blamed for it. Plain functions,
// thread-safe.
#pragma once

namespace navtalk {

// Does this value of errno mean a shortage of ours? EADDRNOTAVAIL is one where a connection is made:
// no local port is left.
bool is_shortage(int error_number);
// Can no file be opened at this moment? For libraries that do not pass errno on: resolvers, readers of
// certificates.
bool out_of_descriptors();

}  // namespace navtalk
