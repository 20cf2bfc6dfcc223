// One file from several connections at once, to one source or to several: each takes range after range, and one
// that is slow or ends loses its range to the others. Stateless.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/artifacts/partial_blob.h"
#include "core/artifacts/ranges/range_options.h"
#include "core/artifacts/source.h"

namespace navtalk {

struct RangeConnection {
  std::unique_ptr<ArtifactSource> source;
  std::string key;
  std::size_t peer = 0;  // of Peers
  Transfer last{};       // what ended it; done: nothing did
};

// Appends what the blob lacks, as far as the connections have it; true when all bytes are there, right or
// not. Each connection is tried again once after a fault. Error{failed} when the disk is full;
// Error{interrupted} or Error{terminated} on a stop request.
bool fetch_ranges(std::vector<RangeConnection>& connections, PartialBlob& blob,
                  const RangeSizes& sizes, const std::stop_token& stop);

}  // namespace navtalk
