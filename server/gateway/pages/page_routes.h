// The web page and the client library, from the program itself: GET /, /operator
// and /client/NAME. Stateless.
#pragma once

#include <cstdint>

#include "server/http/router.h"

namespace navtalk::server {

// Every answer forbids scripts, styles and connections of elsewhere, and frames around it. Browsers
// ask again at each use, and get 304 for what they have.
enum class Pages : std::uint8_t { all, of_users, of_operators };
void add_page_routes(Router& router, Pages pages = Pages::all);

}  // namespace navtalk::server
