#include "server/protocol/control_frame.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace navtalk::server;

namespace {

// A frame of that type and of that many bytes.
std::string padded(const std::string& type, std::size_t bytes) {
  std::string text = R"({"type":")" + type + R"(","a":")";
  text.resize(bytes - 2, 'x');
  return text + "\"}";
}

// Arrays inside an object, `depth` levels in all.
std::string nested(int depth) {
  const auto inner = static_cast<std::size_t>(depth - 1);
  return R"({"type":"interrupt","a":)" + std::string(inner, '[') + std::string(inner, ']') + "}";
}

}  // namespace

TEST_CASE("a control frame is a JSON object with a type") {
  CHECK(type_of(R"({"type":"interrupt"})") == "interrupt");
  for (const char* text :
       {"", "{}", "[]", "\"type\"", R"({"type":1})", R"(["type"])", "{\"type\":"})
    CHECK(type_of(text).empty());
}

TEST_CASE("a control frame is bounded in length, a session.start more widely") {
  CHECK(type_of(padded("interrupt", k_longest_control)) == "interrupt");
  CHECK(type_of(padded("interrupt", k_longest_control + 1)).empty());
  CHECK(type_of(padded("session.start", k_longest_start)) == "session.start");
  CHECK(type_of(padded("session.start", k_longest_start + 1)).empty());
}

TEST_CASE("a control frame without a type is told why: its length, or what it is") {
  const auto told = [](const std::string& text) {
    const auto frame = nlohmann::json::parse(no_type_frame(text).bytes);
    CHECK(frame.at("code") == "usage");
    return frame.at("message").get<std::string>();
  };
  CHECK(told(padded("input.text", k_longest_control + 1)) ==
        "a text frame holds at most 4096 bytes, not 4097; send a longer text in parts");
  CHECK(told("[]") == "a text frame is a JSON object with a \"type\"");
  CHECK(told(nested(k_deepest_control + 1)) == "a text frame is nested deeper than 16 levels");
  CHECK(told(R"({"type":"input.text","text":"a","text":"b"})") ==
        "a text frame has the member \"text\" twice");
  const std::string surrogate = told(R"({"type":"input.text","text":"\ud83d."})");
  CHECK(surrogate.find("a text frame is not valid JSON: ") == 0);
  CHECK(surrogate.find("surrogate") != std::string::npos);
  CHECK(surrogate.find("ud83d") != std::string::npos);
}

TEST_CASE("a member that comes twice makes a control frame invalid, at any depth") {
  CHECK(type_of(R"({"type":"interrupt","type":"keyframe"})").empty());
  CHECK(type_of(R"({"type":"session.start","video":{"width":480,"width":64}})").empty());
  CHECK(type_of(R"({"type":"session.start","video":{"width":480},"audio":{"width":64}})") ==
        "session.start");
}

TEST_CASE("the code of an error frame is read, and of no other frame") {
  CHECK(error_code_of(error_frame("drained", "it goes")) == "drained");
  CHECK(error_code_of(bare_frame("interrupt")).empty());
  CHECK(error_code_of({.bytes = R"({"type":"error","code":3})"}).empty());
  CHECK(error_code_of({.bytes = "nothing"}).empty());
}

TEST_CASE("a control frame is bounded in depth") {
  CHECK(type_of(nested(k_deepest_control)) == "interrupt");
  CHECK(type_of(nested(k_deepest_control + 1)).empty());
  CHECK(type_of(nested(2000)).empty());
}
