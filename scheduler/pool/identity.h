// A pool's name and id, and the names of its GPUs at their providers. The id is made once and kept in
// the store, so that a second store under the same pool name and API key neither adopts nor destroys
// the pods of the first.
#pragma once

#include <string>

#include "scheduler/pool/pool_store.h"

namespace navtalk {

struct PoolIdentity {
  std::string prefix;  // "navtalk"
  std::string pool;    // the configured name
  std::string id;      // 8 hexadecimal digits

  // Names that this store gives begin with this: navtalk-<pool>-<id>-
  std::string own_prefix() const { return prefix + "-" + pool + "-" + id + "-"; }
  // Did this store give that name, whatever prefix and pool name it had then?
  bool owns(const std::string& name) const;
  // Names that any store under that pool name gives: foreign ones are reported, never touched.
  std::string pool_prefix() const { return prefix + "-" + pool + "-"; }
};

// Reads the pool's id, or makes it. Error{invalid} for a pool name with other characters than
// letters, digits and hyphens.
PoolIdentity pool_identity(PoolStore& store, const std::string& prefix, const std::string& pool);

// A new row of that source: unique id and name, state starting, nothing else.
Gpu new_gpu(const PoolIdentity& identity, Source source);

// The name that the worker of the row of that name got when it was created: the same one, except for
// a duplicate, a second instance of one name. Its row's name is that one, a dot and a hash of its
// provider id, so that two processes cannot both make a row for it.
std::string worker_name(const std::string& row);
std::string duplicate_name(const std::string& worker, const std::string& provider_id);

}  // namespace navtalk
