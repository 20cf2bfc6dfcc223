// What an operator sets: the file (TOML), over it NAVTALK_<SECTION>_<KEY> variables, over them
// flags. A plain value; components get their own Options made from it, never the whole.
#pragma once

#include <filesystem>
#include <string>

namespace navtalk {

struct Config {
  struct {
    std::filesystem::path path;  // MuseTalk's checkpoint folder; empty: the demo model
  } models;
  struct {
    std::filesystem::path path;  // where avatars are looked for by id; empty: the demo avatars
  } avatars;
  struct {
    std::string level = "warn";   // trace, debug, info, warn, error, off
    std::string format = "auto";  // auto (text on a terminal, JSON otherwise), text, json
  } log;
};

}  // namespace navtalk
