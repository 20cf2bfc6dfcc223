#include "server/http/same_machine.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/beast/core/string.hpp>

namespace navtalk::server {
namespace {

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_loopback_number(const std::string& text, bool six) {
  boost::system::error_code no_number;
  const auto address = boost::asio::ip::make_address(text, no_number);
  return !no_number && address.is_v6() == six && address.is_loopback();
}

}  // namespace

bool is_this_machine(std::string_view host) {
  const bool six = host.starts_with('[');
  const std::size_t end = six ? host.find(']') : host.find(':');
  std::string_view port;
  if (six) {
    if (end == host.npos) return false;
    port = host.substr(end + 1);
    host = host.substr(1, end - 1);
  } else if (end != host.npos) {
    port = host.substr(end);
    host = host.substr(0, end);
  }
  if (!port.empty() && (port.front() != ':' || !is_port(port.substr(1)))) return false;
  if (!six && boost::beast::iequals({host.data(), host.size()}, "localhost")) return true;
  return is_loopback_number(std::string(host), six);
}

bool is_page_of_this_machine(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return is_this_machine(origin.substr(scheme.size()));
  }
  return false;
}

}  // namespace navtalk::server
