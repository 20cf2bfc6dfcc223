#include "server/gateway/jobs/speech/speech_keeper.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <exception>
#include <memory>
#include <utility>

#include "core/base/error.h"
#include "core/log/log.h"
#include "server/http/signal.h"

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

// Outlives whoever waits for it.
struct Sharing {
  explicit Sharing(const asio::any_io_executor& executor) : changed(executor) {}

  Signal changed;
  bool over = false, shared = false;
};

template <class Work>
auto unless_it_fails(const std::string& audio, const Work& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    log::warn("a job's speech may be missing from the bucket",
              {{"sha256", audio}, {"error", error.what()}});
  }
  return decltype(work())();
}

}  // namespace

asio::awaitable<std::string> SpeechKeeper::keep(std::string_view speech) {
  auto write = [&] { return parts_.files.keep_upload(speech); };
  std::string audio = co_await parts_.file_threads.run(write);
  if (parts_.files.bucket() == nullptr) co_return audio;
  const bool shared = co_await shared_in_time(audio);
  if (!shared && parts_.stop.stop_requested())
    throw Error(Code::failed, "this gateway ends before the bucket has the speech");
  co_return audio;
}

asio::awaitable<bool> SpeechKeeper::shared_in_time(std::string audio) {
  const auto executor = co_await asio::this_coro::executor;
  const auto sharing = std::make_shared<Sharing>(executor);
  const auto until = Signal::Clock::now() + parts_.patience;
  parts_.bucket_threads.post([executor, sharing, audio, &files = parts_.files, stop = parts_.stop] {
    const bool shared = unless_it_fails(audio, [&] { return files.share_upload(audio, stop); });
    asio::post(executor, [sharing, shared] {
      sharing->over = true;
      sharing->shared = shared;
      sharing->changed.notify();
    });
  });
  while (!sharing->over && Signal::Clock::now() < until) co_await sharing->changed.wait(until);
  co_return sharing->shared;
}

void SpeechKeeper::ensure_shared(const std::string& audio) {
  if (audio.empty() || parts_.files.bucket() == nullptr) return;
  parts_.bucket_threads.post([audio, &files = parts_.files, stop = parts_.stop] {
    unless_it_fails(audio, [&] { files.ensure_shared(audio, stop); });
  });
}

}  // namespace navtalk::server
