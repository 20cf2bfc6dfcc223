// What a tenant may be called: its name becomes part of paths and labels. Pure.
#pragma once

#include <cstddef>

#include "scheduler/pool/gpu.h"

namespace navtalk {

inline constexpr std::size_t k_longest_tenant = 64;
// For messages, behind the name.
inline constexpr const char* k_tenant_name_rule = "write 1 to 64 letters, digits, '.', '_' and '-'";

bool valid_tenant_name(const TenantId& tenant);

}  // namespace navtalk
