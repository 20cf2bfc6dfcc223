#include "server/http/same_machine.h"

#include <catch2/catch.hpp>

using namespace navtalk::server;

TEST_CASE("a host is this machine by number or as localhost, with a port or without") {
  for (const char* const host : {"localhost", "LocalHost:2160", "127.0.0.1", "127.0.0.1:2160",
                                 "127.1.2.3:80", "[::1]", "[::1]:2160", "[0:0:0:0:0:0:0:1]:1"}) {
    INFO(host);
    CHECK(is_this_machine(host));
  }
}

TEST_CASE("a DNS name or another address is not this machine, whatever it looks like") {
  for (const char* const host : {"",
                                 ":2160",
                                 "127.evil.com",
                                 "127.0.0.1.evil.com",
                                 "127.0.0.1.",
                                 "localhost.evil.com",
                                 "evil.com",
                                 "127.1",
                                 "0177.0.0.1",
                                 "2130706433",
                                 "0.0.0.0",
                                 "10.0.0.7:2160",
                                 "[::]",
                                 "[::1",
                                 "::1",
                                 "[::1]evil.com",
                                 "[127.0.0.1]",
                                 "127.0.0.1:",
                                 "127.0.0.1:evil.com",
                                 "127.0.0.1:1:2",
                                 "127.0.0.1@evil.com",
                                 " 127.0.0.1",
                                 "[fe80::1%lo]"}) {
    INFO(host);
    CHECK_FALSE(is_this_machine(host));
  }
}

TEST_CASE("a page is of this machine by scheme and host") {
  CHECK(is_page_of_this_machine("http://localhost:8000"));
  CHECK(is_page_of_this_machine("https://127.0.0.1"));
  for (const char* const origin :
       {"", "null", "localhost", "file://", "ftp://localhost", "chrome-extension://localhost",
        "http://127.evil.com", "http://evil.com/http://localhost", "http://localhost/path"}) {
    INFO(origin);
    CHECK_FALSE(is_page_of_this_machine(origin));
  }
}
