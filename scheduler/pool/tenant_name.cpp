#include "scheduler/pool/tenant_name.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/text/printable.h"

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

void check_tenant_name(const TenantId& tenant) {
  if (!valid_tenant_name(tenant)) {
    throw Error(Code::invalid, "'" + printable_start(tenant.text, k_longest_tenant) +
                                   "' is not a valid tenant name: " + k_tenant_name_rule);
  }
}

void check_tenant_of_key(const TenantId& tenant) {
  check_tenant_name(tenant);
  if (tenant.text == k_keyless_tenant) {
    throw Error(Code::invalid,
                "the tenant name '" + tenant.text +
                    "' is reserved for jobs that come without a key: choose another");
  }
}

}  // namespace navtalk
