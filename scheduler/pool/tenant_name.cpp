#include "scheduler/pool/tenant_name.h"

#include <algorithm>

namespace navtalk {

bool valid_tenant_name(const TenantId& tenant) {
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  const std::string& text = tenant.text;
  return !text.empty() && text.size() <= k_longest_tenant &&
         std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace navtalk
