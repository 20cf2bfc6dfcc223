// Fetches the speech of audio_urls, all on one thread: a server that is slow costs a connection and the room of what it has
// sent, and holds up no other one.
//
//   fetch() ──► AsyncHttpClient ──► pieces ──► SpeechRoom ──► fetch() goes on, on the caller's thread
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/net/async_http_client.h"
#include "server/gateway/jobs/speech/speech_room.h"

namespace navtalk::server {

struct SpeechFetchOptions {
  bool allow_private = false;  // from addresses of this machine and of private networks as well
  std::uint64_t max_audio = 100 << 20;  // bytes of one recording
};

class SpeechFetches {
 public:
  static constexpr std::size_t k_at_once = 128;         // what 1,024 open files leave room for
  static constexpr std::size_t k_kept = 2 * k_at_once;  // connections, those in use included
  // Recordings of the largest size that are in memory at once, those included that are whole.
  static constexpr std::uint64_t k_in_memory = 16;

  explicit SpeechFetches(SpeechFetchOptions options);

  // The speech at that URL. Error{invalid} says why there is none: no answer within a minute, nothing for ten seconds, its
  // status, its size, or an address that is not public. Error{failed} where there is no room for it now, or after stop().
  boost::asio::awaitable<FetchedSpeech> fetch(TenantId tenant, std::string url);
  // For good: no server is waited for any more. Thread-safe.
  void stop() { client_.stop(); }

 private:
  const SpeechFetchOptions options_;
  SpeechRoom room_;
  AsyncHttpClient client_;  // ends first: what it calls refers to the rest
};

}  // namespace navtalk::server
