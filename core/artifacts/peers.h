// Other caches of the same models, whose processes serve content by its SHA-256 (server/content). They
// are asked before the sources, so that many machines that start at once take one copy from these:
//
//   every machine puts the peers into the same order, another one for each content;
//   those before itself are asked for all of it: one that lacks it fetches it first, from those before
//   it or from a source, and passes on what has come meanwhile;
//   those behind itself are asked for what they hold.
//
// So no two wait for each other, and the first one alone asks a source. Ranges of large content come from all that
// hold it, before anybody is asked to fetch it. What comes is verified by its
// receiver; a peer that sends wrong bytes, cuts or is slow is not asked again. One thread at a time.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/artifacts/manifest.h"
#include "core/artifacts/partial_blob.h"
#include "core/artifacts/ranges/range_fetch.h"
#include "core/artifacts/source.h"

namespace navtalk {

struct PeerOptions {
  std::vector<std::string> addresses{};  // URLs; this machine's own may be among them
  std::string token{};                   // that they ask for; empty: none
  bool allow_http = false;               // beyond this machine, where others could read the token
  // One that sends less than so many bytes a second for so long is left.
  long least_rate = 1 << 20;
  std::chrono::seconds patience{10};
  // How long peers that have too much to do are asked again before a source is.
  std::chrono::milliseconds busy_patience{120'000};
};

// What a peer is asked with: the path and query of a request, and the header that says which cache asks.
inline constexpr const char* k_content_path = "v1/content/";
inline constexpr const char* k_cache_header = "Navtalk-Cache";
inline constexpr const char* k_cache_header_lower_case = "navtalk-cache";
// Its answer to the cache that is its own.
inline constexpr int k_own_cache = 421;
// `held`: only if it is there already.
std::string content_target(const ArtifactFile& file, const std::string& key, bool held);
// The places of the addresses in the order in which the content of that SHA-256 is asked for.
std::vector<std::size_t> peer_order(const std::vector<std::string>& addresses,
                                    const std::string& sha256);

class Peers {
 public:
  // `cache_id`: of the cache that asks. Error{invalid} for what is not an address, or http beyond this
  // machine.
  Peers(const PeerOptions& options, const std::string& cache_id);
  ~Peers();

  // A connection to each that may hold the content, and what came of them.
  std::vector<RangeConnection> holders(const ArtifactFile& file, const std::string& key) const;
  void note(const std::vector<RangeConnection>& connections);

  // Appends what the blob lacks; true when it is whole and right. Otherwise it has the beginning, or
  // nothing. Error{failed} when the disk is full; Error{interrupted} or Error{terminated} on a stop
  // request.
  bool fetch(const ArtifactFile& file, const std::string& key, PartialBlob& blob,
             const std::stop_token& stop);

 private:
  enum class Said { whole, nothing, busy, own };
  struct Peer;

  Said ask_all(const ArtifactFile& file, const std::string& key, PartialBlob& blob,
               const std::stop_token& stop);
  Said ask(Peer& peer, const ArtifactFile& file, const std::string& target, PartialBlob& blob,
           const std::stop_token& stop);

  const std::vector<std::string> addresses_;
  const std::chrono::milliseconds busy_patience_;
  std::vector<Peer> peers_;
};

}  // namespace navtalk
