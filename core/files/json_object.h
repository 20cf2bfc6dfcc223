// A JSON file that holds one object, read with suspicion: bounded size and depth, and errors that
// name the file. Stateless.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace navtalk {

// Error{not_found} for a missing file; Error{invalid} when it is larger than `max_bytes`, nested
// deeper than four levels, or no JSON object; Error{failed} when it cannot be read.
nlohmann::json read_json_object(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace navtalk
