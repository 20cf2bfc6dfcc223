#include "server/gateway/access/bound_start.h"

#include <nlohmann/json.hpp>

#include "server/protocol/control_frame.h"

namespace navtalk::server {

std::string bound_start(const std::string& start, const SessionPermit& permit) {
  if (permit.avatar.empty()) return start;
  nlohmann::ordered_json object = parse_control(start).value();
  object["avatar"] = permit.avatar;
  return control_frame(object).bytes;
}

}  // namespace navtalk::server
