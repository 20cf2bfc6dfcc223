#include "server/http/connections.h"

namespace navtalk::server {

std::optional<Connections::Place> Connections::add(boost::asio::ip::tcp::socket socket) {
  if (open() >= most_) make_room();
  if (open() >= most_ + reserve_) return std::nullopt;
  const bool reserve = open() >= most_;
  const Place place = all_.emplace(all_.end(), std::move(socket));
  place->reserve = reserve;
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
  if (connection->displaced) --displaced_;
  all_.erase(connection);
}

bool Connections::make_room() {
  if (waiting_.empty()) return false;
  Connection& longest = *waiting_.front();
  asks(longest);
  longest.displaced = true;
  ++displaced_;
  longest.stream.close();
  return true;
}

}  // namespace navtalk::server
