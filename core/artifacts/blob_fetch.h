// Brings the content of one file into the cache: from peers, then from the sources, verified. Of a large file each
// of the two is first asked for ranges over several connections at once. If what came together is wrong, nobody
// knows who lied: it is fetched again from one after another, each of which has to send the right whole. Used by
// one thread at a time; several may want the same content, also in several processes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/artifacts/cache.h"
#include "core/artifacts/peers.h"
#include "core/artifacts/source.h"

namespace navtalk {

using ArtifactSources = std::vector<std::unique_ptr<ArtifactSource>>;

class BlobFetch {
 public:
  struct Uses {
    const ArtifactCache& cache;
    const ArtifactSources& sources;  // in the order in which they are asked
    Peers& peers;
    const RangeOptions& ranges;
    int failures = 5;  // of one source in a row, without a byte between them
    const std::stop_token& stop;
  };
  explicit BlobFetch(Uses uses) : uses_(uses) {}

  // Nothing when the cache has it. `on_growth` is called with the bytes that are there so far. Error{failed}
  // with what each source answered, or when the disk is full; Error{interrupted} or Error{terminated} on
  // a stop request.
  void bring(const ArtifactFile& file, const std::string& key,
             const std::function<void(std::uint64_t)>& on_growth);

  std::uint64_t from_peers() const { return from_peers_; }      // bytes
  std::uint64_t from_sources() const { return from_sources_; }  // bytes

 private:
  bool bring_from_peers(const ArtifactFile& file, const std::string& key, PartialBlob& blob) const;
  // Of large content; from as many at once as sources have connections.
  bool bring_held_ranges(const ArtifactFile& file, const std::string& key, PartialBlob& blob) const;
  enum class RangesResult { whole, some, wrong };  // wrong: it was discarded
  RangesResult bring_ranges(std::vector<RangeConnection>& connections, const ArtifactFile& file,
                            PartialBlob& blob) const;
  std::vector<RangeConnection> source_connections(const ArtifactFile& file,
                                                  const std::string& key) const;
  bool is_large(const PartialBlob& blob) const;
  void keep(PartialBlob& blob, const ArtifactFile& file) const;
  Transfer bring_from(ArtifactSource& source, const ArtifactFile& file, const std::string& key,
                      PartialBlob& blob) const;

  const Uses uses_;
  std::uint64_t from_peers_ = 0, from_sources_ = 0;
};

}  // namespace navtalk
