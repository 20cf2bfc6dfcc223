// What `navtalk bench serve` was asked for. Private to cmd/.
#pragma once

#include <filesystem>
#include <string>

namespace navtalk::cmd {

struct BenchServeOptions {
  std::string url{};        // empty: a gateway is started for the run
  std::string admin_url{};  // of that gateway, for operators; empty: `url`
  std::string avatar{};
  int width = 0;
  int sessions = 1;
  double seconds = 20;
  std::filesystem::path audio{};  // empty: a text that espeak-ng speaks
  int message_ms = 20;
  int interrupts = 0;  // of each session
  int connects = 0;
  int relay = 0;  // sessions; 0: sessions are real ones
};

}  // namespace navtalk::cmd
