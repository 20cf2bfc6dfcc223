// Serves what is in this machine's cache of models to other machines of the operator's, by its SHA-256 (docs/protocol.md,
// "Content"), on a port and a thread of its own. What it lacks it fetches once, and passes it on while it comes.
// It tells no names and takes nothing; who receives content verifies it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "core/artifacts/fetch.h"

namespace navtalk::server {

struct ContentServerOptions {
  std::string listen{};      // ADDR:PORT
  std::string token{};       // without one only loopback is listened on
  FetchOptions fetch{};      // how what is lacking is fetched, and the cache
  std::size_t uploads = 32;  // at once; others are told to try elsewhere
  std::size_t pulls = 4;     // contents that are fetched at once
};

class ContentServer {
 public:
  // Serves from now on. Error{usage}, Error{invalid} for options that do not fit, Error{failed} when the
  // address is taken.
  explicit ContentServer(ContentServerOptions options);
  ~ContentServer();
  ContentServer(const ContentServer&) = delete;
  ContentServer& operator=(const ContentServer&) = delete;

  // "http://127.0.0.1:40123"
  std::string url() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace navtalk::server
