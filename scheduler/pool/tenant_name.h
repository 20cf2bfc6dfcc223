// What a tenant may be called: its name becomes part of paths and labels. Pure.
#pragma once

#include <cstddef>
#include <string_view>

#include "scheduler/pool/gpu.h"

namespace navtalk {

inline constexpr std::size_t k_longest_tenant = 64;
// For messages, behind the name.
inline constexpr const char* k_tenant_name_rule = "write 1 to 64 letters, digits, '.', '_' and '-'";

// Of jobs that came without an API key of a tenant. Whoever had a key of it would have these jobs.
inline constexpr std::string_view k_keyless_tenant = "local";

bool valid_tenant_name(const TenantId& tenant);
// Error{invalid} for a name that is not valid.
void check_tenant_name(const TenantId& tenant);
// Of a tenant that is to have a key. Error{invalid} also for k_keyless_tenant.
void check_tenant_of_key(const TenantId& tenant);

}  // namespace navtalk
