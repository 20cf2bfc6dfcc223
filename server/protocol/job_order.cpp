#include "server/protocol/job_order.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace navtalk::server {

std::string as_line(const JobOrder& order) {
  const nlohmann::json object = {{"avatar", order.avatar},
                                 {"audio", order.audio.native()},
                                 {"text", order.text},
                                 {"voice", order.voice},
                                 {"options", order.options},
                                 {"output", order.output.native()},
                                 {"segment_folder", order.segment_folder.native()},
                                 {"segment_records", order.segment_records},
                                 {"waits", order.waits}};
  return object.dump() + "\n";
}

JobOrder parse_job_order(std::string_view line) {
  try {
    const nlohmann::json object = nlohmann::json::parse(line);
    return {.avatar = object.at("avatar"),
            .audio = object.at("audio").get<std::string>(),
            .text = object.at("text"),
            .voice = object.at("voice"),
            .options = object.at("options"),
            .output = object.at("output").get<std::string>(),
            .segment_folder = object.at("segment_folder").get<std::string>(),
            .segment_records = object.at("segment_records"),
            .waits = object.at("waits")};
  } catch (const nlohmann::json::exception& error) {
    throw Error(Code::invalid, std::string("an order is not a line of a worker: ") + error.what());
  }
}

std::string recorded_line(int segment) {
  return nlohmann::json{{"recorded", segment}}.dump() + "\n";
}

std::optional<int> parse_recorded_line(std::string_view line) {
  const nlohmann::json object = nlohmann::json::parse(line, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find("recorded");
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<int>();
}

}  // namespace navtalk::server
