// The report of `bench serve`, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cmd/bench/serve/options.h"
#include "cmd/bench/serve/result.h"

namespace navtalk::cmd {

nlohmann::ordered_json serve_json(const ServeResult& result, const BenchServeOptions& options);
std::string serve_text(const ServeResult& result, const BenchServeOptions& options, bool colour);

}  // namespace navtalk::cmd
