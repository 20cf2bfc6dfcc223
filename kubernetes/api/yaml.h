// YAML as JSON values: what a kubeconfig file is written in. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace navtalk::kubernetes {

// The first document. Every scalar is text, as it is written, but for null (nothing, "~" or "null"
// without quotes). Error{invalid}, which names line and column, for what is not YAML, is nested 32 levels
// deep, has more than 100,000 values, or a key that is not text. A text without a document is null.
nlohmann::json parse_yaml(const std::string& text);

}  // namespace navtalk::kubernetes
