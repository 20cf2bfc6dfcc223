// Stands between a PostgreSQL client and its server (both on Unix sockets), and cuts a connection
// at its next COMMIT: before the server has got it, or after the server has answered it and before
// the client has got the answer. Either way the client cannot know. Thread-safe.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "core/base/unique_fd.h"
#include "tests/temporary_directory.h"

namespace navtalk::tests {

class CuttingProxy {
 public:
  enum class Cut { none, before_commit, after_commit };

  // `server`: the folder of its socket.
  explicit CuttingProxy(const std::filesystem::path& server);
  ~CuttingProxy();
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;

  // The folder for a URL's host.
  std::string folder() const { return folder_.path().native(); }
  // Once; connections made afterwards are passed on, or refused as long as `away` is set.
  void cut_next(Cut cut, bool away = false);
  void come_back() { away_ = false; }
  int cuts() const { return cuts_; }

 private:
  void accept_all(const std::stop_token& stop);
  void relay(const std::stop_token& stop, UniqueFd client);
  // What the cut, if one is due now, leaves to do: false ends the connection.
  bool pass_to_server(const std::string& bytes, int server);

  TemporaryDirectory folder_;
  std::filesystem::path server_;
  UniqueFd listener_;
  std::atomic<Cut> cut_{Cut::none};
  std::atomic<bool> away_{false}, away_after_cut_{false};
  std::atomic<int> cuts_{0};
  std::jthread thread_;  // last: ends first
};

}  // namespace navtalk::tests
