#include "scheduler/pool/identity.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/text/printable.h"
#include "scheduler/pool/settings.h"

namespace navtalk {
namespace {

void check_name(const std::string& text, const char* what) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || c == '-'; };
  if (!text.empty() && text.size() <= 40 && std::all_of(text.begin(), text.end(), plain)) return;
  throw Error(Code::invalid, std::string(what) + " '" + printable(text) +
                                 "' must be 1 to 40 letters, digits and hyphens");
}

}  // namespace

PoolIdentity pool_identity(PoolStore& store, const std::string& prefix, const std::string& pool) {
  check_name(prefix, "the name prefix");
  check_name(pool, "the pool's name");
  const std::string fresh = random_id().substr(0, 8);
  // Two processes may come at once: the second finds the id of the first.
  const bool made = store.swap_setting(setting_name::k_pool_id, std::nullopt, fresh);
  return {.prefix = prefix,
          .pool = pool,
          .id = made ? fresh : store.setting(setting_name::k_pool_id).value()};
}

bool PoolIdentity::owns(const std::string& name) const {
  const std::size_t end = name.rfind('-');
  return end != std::string::npos && std::string_view(name).substr(0, end).ends_with("-" + id);
}

Gpu new_gpu(const PoolIdentity& identity, Source source) {
  const std::string unique = random_id();
  return {.id = {std::string(name(source)) + "-" + unique.substr(0, 8)},
          .name = identity.own_prefix() + unique,
          .source = source};
}

// Names that pools give hold no dot.
std::string worker_name(const std::string& row) { return row.substr(0, row.find('.')); }

std::string duplicate_name(const std::string& worker, const std::string& provider_id) {
  constexpr std::size_t k_bytes = 8;  // a name has few duplicates
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  NAVTALK_CHECK(EVP_Digest(provider_id.data(), provider_id.size(), digest.data(), &size,
                           EVP_sha256(), nullptr) == 1);
  NAVTALK_CHECK(size >= k_bytes);
  std::string name = worker + ".";
  for (std::size_t i = 0; i < k_bytes; ++i) name += fmt::format("{:02x}", digest.at(i));
  return name;
}

}  // namespace navtalk
