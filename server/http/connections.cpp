#include "server/http/connections.h"

#include <algorithm>
#include <boost/asio/ip/network_v6.hpp>

namespace navtalk::server {
namespace {

namespace ip = boost::asio::ip;

// Of a socket that listens to both protocols an IPv4 address comes as IPv6.
ip::address peer_of(const ip::tcp::socket& socket) {
  boost::system::error_code gone;
  const ip::address address = socket.remote_endpoint(gone).address();
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return ip::make_address_v4(ip::v4_mapped, address.to_v6());
}

// Whoever has one address of a /64 network has all.
std::string neighbours_of(const ip::address& address, const HttpLimits& limits) {
  const auto& unbounded = limits.unbounded_addresses;
  if (limits.per_address == 0 || address.is_loopback() ||
      std::find(unbounded.begin(), unbounded.end(), address.to_string()) != unbounded.end()) {
    return "";
  }
  if (address.is_v4()) return address.to_string();
  return ip::make_network_v6(address.to_v6(), 64).canonical().to_string();
}

}  // namespace

std::optional<Connections::Place> Connections::add(boost::asio::ip::tcp::socket socket) {
  const auto address = peer_of(socket);
  const std::string neighbours = neighbours_of(address, limits_);
  const auto counted = of_neighbours_.find(neighbours);
  if (counted != of_neighbours_.end() && counted->second >= limits_.per_address)
    return std::nullopt;
  const bool reserve = regular_ >= limits_.connections &&
                       !make_room([](const Connection& connection) { return !connection.reserve; });
  if (reserve && in_reserve_ >= limits_.reserve &&
      !make_room([](const Connection& connection) { return connection.reserve; }))
    return std::nullopt;
  const Place place = all_.emplace(all_.end(), std::move(socket));
  place->reserve = reserve;
  ++count_of(*place);
  place->peer = address.to_string();
  place->neighbours = neighbours;
  if (!neighbours.empty()) ++of_neighbours_[neighbours];
  waits(*place);
  return place;
}

void Connections::waits(Connection& connection) {
  asks(connection);
  if (!connection.displaced) connection.waiting = waiting_.insert(waiting_.end(), &connection);
}

void Connections::asks(Connection& connection) {
  if (const auto at = std::exchange(connection.waiting, std::nullopt)) waiting_.erase(*at);
}

void Connections::remove(Place connection) {
  asks(*connection);
  if (!connection->displaced) --count_of(*connection);
  const auto counted = of_neighbours_.find(connection->neighbours);
  if (counted != of_neighbours_.end() && --counted->second == 0) of_neighbours_.erase(counted);
  all_.erase(connection);
}

bool Connections::make_room(bool (*may_go)(const Connection&)) {
  const auto at = std::find_if(waiting_.begin(), waiting_.end(),
                               [&](const Connection* connection) { return may_go(*connection); });
  if (at == waiting_.end()) return false;
  Connection& longest = **at;
  asks(longest);
  longest.displaced = true;
  --count_of(longest);
  longest.tcp().close();
  return true;
}

bool Connections::make_room() {
  return make_room([](const Connection&) { return true; });
}

}  // namespace navtalk::server
