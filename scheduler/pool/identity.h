// What a pool is called, and how its GPUs are named at their providers. The pool's id is made once
// and kept in the store, so that a second store under the same pool name and API key neither adopts
// nor reaps the first one's pods.
#pragma once

#include <string>

#include "scheduler/pool/pool_store.h"

namespace navtalk {

struct PoolIdentity {
  std::string prefix;  // "navtalk"
  std::string pool;    // the configured name
  std::string id;      // 8 hexadecimal digits

  // Every name that this store gives now begins with this: navtalk-<pool>-<id>-
  std::string own_prefix() const { return prefix + "-" + pool + "-" + id + "-"; }
  // Did this store give that name, whatever prefix and pool name it had then?
  bool owns(const std::string& name) const;
  // Names of any store of that pool name: those of others are reported, never touched.
  std::string pool_prefix() const { return prefix + "-" + pool + "-"; }
};

// Reads the pool's id, or makes it. Error{invalid} for a pool name that is not letters, digits and
// hyphens.
PoolIdentity pool_identity(PoolStore& store, const std::string& prefix, const std::string& pool);

// A new row of that source: unique id and name, state starting, nothing else.
Gpu new_gpu(const PoolIdentity& identity, Source source);

}  // namespace navtalk
