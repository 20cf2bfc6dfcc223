// What `navtalk serve` was asked for. Private to cmd/.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cmd/context.h"
#include "cmd/net_placement.h"

namespace navtalk::cmd {

struct ServeOptions {
  std::optional<std::string> listen, admin_listen;
  bool worker = false;
  // The worker's alone.
  int slots = 1, threads = 0;
  double gateway_silence_s = 0, first_contact_s = 900, drain_s = 5;
  std::string device = "auto", precision = "auto", video_encoder = "auto", avatar, name;
  NetPlacement placement{};
  std::filesystem::path models, token_file;
  std::vector<std::string> sources;  // model stores; empty: those of the configuration
};

int serve_gateway(const ServeOptions& options, Context& context);
int serve_worker(const ServeOptions& options, Context& context);

}  // namespace navtalk::cmd
