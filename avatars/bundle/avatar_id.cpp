#include "avatars/bundle/avatar_id.h"

#include <algorithm>

namespace navtalk {

bool valid_avatar_id(std::string_view id) {
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !id.empty() && id.size() <= 64 && id[0] != '.' && id[0] != '-' &&
         std::all_of(id.begin(), id.end(), allowed);
}

}  // namespace navtalk
