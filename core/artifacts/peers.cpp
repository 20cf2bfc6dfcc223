#include "core/artifacts/peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "core/artifacts/http_source.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/sleep.h"
#include "core/checkpoint/checkpoint.h"
#include "core/log/log.h"
#include "core/net/url.h"

namespace navtalk {
namespace {

using Outcome = Transfer::Outcome;

constexpr auto k_connect_timeout = std::chrono::seconds(3);
constexpr auto k_busy_pause = std::chrono::milliseconds(500);
constexpr int k_peer_tries = 3;  // of one peer that sends something each time
constexpr int k_too_much_to_do = 503;

std::string checked(const std::string& address, bool allow_http) {
  const HttpUrl url = parse_http_url(address);
  if (url.path.find('?') != std::string::npos)
    throw Error(Code::invalid, "the address of a peer cannot have a query");
  if (!url.secure && !url.loopback() && !allow_http) {
    throw Error(Code::invalid, "the peer at " + url.authority() +
                                   " must be https: http would show the peers' token to the "
                                   "network; set pool.allow_http_workers if you trust it");
  }
  return url.base();
}

}  // namespace

struct Peers::Peer {
  std::unique_ptr<ArtifactSource> source;
  bool own = false;   // it is this machine
  bool left = false;  // it is of no use
};

std::string content_target(const ArtifactFile& file, const std::string& key, bool held) {
  return fmt::format("{}{}?bytes={}&key={}{}", k_content_path, file.sha256, file.bytes, key,
                     held ? "&held=1" : "");
}

std::vector<std::size_t> peer_order(const std::vector<std::string>& addresses,
                                    const std::string& sha256) {
  std::vector<std::string> marks;
  for (const std::string& address : addresses) {
    const std::string text = address + " " + sha256;
    marks.push_back(navtalk::sha256(std::as_bytes(std::span(text.data(), text.size()))));
  }
  std::vector<std::size_t> order(addresses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return marks[a] < marks[b]; });
  return order;
}

Peers::Peers(const PeerOptions& options, const std::string& cache_id)
    : addresses_([&] {
        std::vector<std::string> bases;
        for (const std::string& address : options.addresses)
          bases.push_back(checked(address, options.allow_http));
        return bases;
      }()),
      busy_patience_(options.busy_patience) {
  std::vector<std::pair<std::string, std::string>> headers = {{k_cache_header, cache_id}};
  if (!options.token.empty()) headers.emplace_back("Authorization", "Bearer " + options.token);
  for (const std::string& base : addresses_) {
    peers_.push_back({.source = http_source({.name = base,
                                             .url = base,
                                             .stall_timeout = options.patience,
                                             .least_rate = options.least_rate,
                                             .connect_timeout = k_connect_timeout,
                                             .redirects = false,
                                             .headers = headers})});
  }
}

Peers::~Peers() = default;

bool Peers::fetch(const ArtifactFile& file, const std::string& key, PartialBlob& blob,
                  const std::stop_token& stop) {
  const auto until = std::chrono::steady_clock::now() + busy_patience_;
  for (;;) {
    const Said said = ask_all(file, key, blob, stop);
    const auto left = until - std::chrono::steady_clock::now();
    if (said != Said::busy || left <= left.zero()) return said == Said::whole;
    if (!sleep_for(std::min<std::chrono::nanoseconds>(k_busy_pause, left), stop))
      throw_if_stopped(stop);
  }
}

std::vector<RangeConnection> Peers::holders(const ArtifactFile& file,
                                            const std::string& key) const {
  std::vector<RangeConnection> found;
  for (const std::size_t index : peer_order(addresses_, file.sha256)) {
    const Peer& peer = peers_[index];
    if (peer.own || peer.left) continue;
    found.push_back(
        {.source = peer.source->another(), .key = content_target(file, key, true), .peer = index});
  }
  return found;
}

void Peers::note(const std::vector<RangeConnection>& connections) {
  for (const RangeConnection& connection : connections) {
    Peer& peer = peers_[connection.peer];
    const Transfer& last = connection.last;
    if (last.status == k_own_cache) peer.own = true;
    if (last.outcome != Outcome::again || (last.status != 0 && !last.slow)) continue;
    peer.left = true;
    log::warn("a peer is not asked for content any more", {{"error", last.why}});
  }
}

Peers::Said Peers::ask_all(const ArtifactFile& file, const std::string& key, PartialBlob& blob,
                           const std::stop_token& stop) {
  bool busy = false, behind = false;  // behind this machine in the order
  for (const std::size_t index : peer_order(addresses_, file.sha256)) {
    Peer& peer = peers_[index];
    behind = behind || peer.own;
    if (peer.own || peer.left) continue;
    const Said said = ask(peer, file, content_target(file, key, behind), blob, stop);
    if (said == Said::whole) return said;
    behind = behind || said == Said::own;
    busy = busy || said == Said::busy;
  }
  return busy ? Said::busy : Said::nothing;
}

Peers::Said Peers::ask(Peer& peer, const ArtifactFile& file, const std::string& target,
                       PartialBlob& blob, const std::stop_token& stop) {
  std::string why;
  for (int tries = 0; tries < k_peer_tries; ++tries) {
    const std::uint64_t before = blob.size();
    const Transfer transfer = peer.source->fetch(target, blob, stop);
    if (transfer.outcome == Outcome::done) {
      if (blob.is_whole(file.sha256)) return Said::whole;
      blob.restart();
      why = peer.source->name() + " sends wrong bytes";
      if (before == 0) break;
      continue;  // what others have sent may be what is wrong
    }
    if (transfer.status == k_own_cache) {
      peer.own = true;
      return Said::own;
    }
    if (transfer.outcome == Outcome::missing) return Said::nothing;
    if (transfer.status == k_too_much_to_do) return Said::busy;
    why = transfer.why;
    if (blob.size() <= before || transfer.slow) break;
  }
  peer.left = true;
  log::warn("a peer is not asked for content any more", {{"error", why}});
  return Said::nothing;
}

}  // namespace navtalk
