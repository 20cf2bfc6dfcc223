#include "core/text/bounded_json.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

namespace navtalk {
namespace {

using nlohmann::json;
using Why = JsonRefusal::Why;

struct Refused {
  JsonRefusal refusal;
};

// Looks at each value that begins, and at each key.
class Bounded {
 public:
  explicit Bounded(JsonBounds bounds) : bounds_(bounds) {}

  // `above`: the levels around the value or the key.
  bool operator()(int above, json::parse_event_t event, json& value) {
    using Event = json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (above >= bounds_.levels) throw Refused{{.why = Why::too_deep}};
      if (bounds_.unique_keys) {
        keys_.resize(static_cast<std::size_t>(above));
        keys_.emplace_back();
      }
    }
    if (event == Event::key && bounds_.unique_keys) {
      const auto [key, is_new] =
          keys_[static_cast<std::size_t>(above) - 1].insert(value.get<std::string>());
      if (!is_new) throw Refused{{.why = Why::repeated_key, .detail = *key}};
    }
    return true;
  }

 private:
  const JsonBounds bounds_;
  std::vector<std::set<std::string>> keys_{};  // of the objects that are open, by level
};

// Without the library's own name for its exception.
std::string reason(std::string_view what) {
  const auto end = what.find("] ");
  return std::string(what.starts_with('[') && end != std::string_view::npos ? what.substr(end + 2)
                                                                            : what);
}

}  // namespace

std::variant<json, JsonRefusal> parse_bounded(std::string_view text, JsonBounds bounds) {
  if (text.size() > bounds.bytes) return JsonRefusal{.why = Why::too_large};
  try {
    Bounded bounded(bounds);
    return json::parse(text.begin(), text.end(), std::ref(bounded));
  } catch (Refused& refused) {
    return std::move(refused.refusal);
  } catch (const json::exception& error) {
    return JsonRefusal{.why = Why::malformed, .detail = reason(error.what())};
  }
}

}  // namespace navtalk
