// The completion token of coroutines that look at an error code where others catch. Stateless.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace navtalk::server {

inline constexpr auto k_tuple = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace navtalk::server
