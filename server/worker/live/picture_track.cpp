#include "server/worker/live/picture_track.h"

#include <boost/asio/post.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "server/protocol/control_frame.h"
#include "server/protocol/media_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;
using std::chrono::duration_cast;
using std::chrono::microseconds;

namespace {

// A picture whose nets would begin later than this after its slot is left out: newer ones are due.
constexpr auto k_too_late = 80ms;
// Pictures on their way: more would be late anyway.
constexpr std::size_t k_most_pictures = 5;
// A gateway that has not taken a frame for so long gets no more pictures.
constexpr auto k_slow_gateway = 1s;

double seconds(PictureTrack::Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

PictureTrack::PictureTrack(const asio::any_io_executor& executor, WebSocket& socket,
                           LiveThreads threads, std::shared_ptr<LiveAvatar> avatar, Options options,
                           LiveCounters& counters)
    : executor_(executor),
      socket_(socket),
      threads_(threads),
      avatar_(std::move(avatar)),
      session_(options.session),
      counters_(counters),
      some_made_(executor),
      sequence_(options.sequence),
      lost_(options.sequence > 0) {
  ++counters_.sessions.front();
}

PictureTrack::~PictureTrack() { --counters_.sessions[rate_.step()]; }

void PictureTrack::show(const PlayedSlot& slot, const ClipFrame& frame, SoundWindow sound,
                        Clock::time_point due) {
  if (pictures_.size() >= k_most_pictures || Clock::now() - due > k_too_late) return leave_out();
  auto picture = std::make_shared<Picture>(
      Picture{.time = slot.time, .due = due, .speaks = slot.speaks, .lips = slot.lips > 0});
  pictures_.push_back(picture);
  if (slot.lips > 0) return ask(picture, slot, frame, std::move(sound));
  picture->finish = [avatar = avatar_, frame] { return avatar->still(frame); };
  picture->stage = Stage::made;
  some_made_.notify();
}

void PictureTrack::ask(const std::shared_ptr<Picture>& picture, const PlayedSlot& slot,
                       const ClipFrame& frame, SoundWindow sound) {
  auto done = [executor = executor_, picture, self = std::weak_ptr(self_)](Answer answer) {
    auto shared = std::make_shared<Answer>(std::move(answer));
    asio::post(executor, [picture, self, shared] {
      if (const auto track = self.lock()) (*track)->answered(*picture, *shared);
    });
  };
  threads_.inference.submit({.session = session_,
                             .avatar = avatar_->for_engine(),
                             .time = slot.time,
                             .frame = frame,
                             .lips = slot.lips,
                             .sound = std::move(sound),
                             .deadline = picture->due + k_too_late},
                            std::move(done));
}

void PictureTrack::answered(Picture& picture, Answer& answer) {
  using Outcome = InferenceEngine::Outcome;
  counters_.face_seconds += seconds(answer.queued + answer.working);
  picture.stage = answer.outcome == Outcome::made ? Stage::made : Stage::left_out;
  picture.working = answer.working;
  picture.finish = std::move(answer.picture);
  if (answer.outcome == Outcome::failed) problem_ = answer.problem;
  if (answer.outcome == Outcome::late || answer.outcome == Outcome::crowded) leave_out();
  some_made_.notify();
}

void PictureTrack::interrupt() { threads_.inference.cancel(session_); }

void PictureTrack::stop() {
  stopped_ = true;
  interrupt();
  some_made_.notify();
}

asio::awaitable<void> PictureTrack::run() {
  while (!stopped_) {
    if (problem_) std::rethrow_exception(problem_);
    if (pictures_.empty() || pictures_.front()->stage == Stage::asked) {
      co_await some_made_.wait();
      continue;
    }
    std::shared_ptr<Picture> next = std::move(pictures_.front());
    pictures_.pop_front();
    if (next->stage == Stage::made) co_await encode(std::move(next));
  }
}

asio::awaitable<void> PictureTrack::encode(std::shared_ptr<Picture> picture) {
  struct Coded {
    EncodedPicture picture;
    Clock::duration composing, coding;
  };
  auto work = [avatar = avatar_, finish = std::move(picture->finish),
               key = std::exchange(key_wanted_, false)] {
    const Clock::time_point begin = Clock::now();
    const VideoPicture finished = finish();
    const Clock::time_point composed = Clock::now();
    EncodedPicture coded = avatar->encode(finished, key);
    return Coded{std::move(coded), composed - begin, Clock::now() - composed};
  };
  const Coded coded = co_await threads_.encoders.run(std::move(work));
  counters_.compose_seconds += seconds(coded.composing);
  counters_.encode_seconds += seconds(coded.coding);
  if (stopped_) co_return;
  send(*picture, coded.picture);
  const auto finishing = duration_cast<microseconds>(coded.composing + coded.coding);
  note(PictureDelay{.whole = duration_cast<microseconds>(Clock::now() - picture->due),
                    .working = picture->working + finishing});
}

// A picture that the client has no room for spoils those that follow, up to the next key frame.
void PictureTrack::send(const Picture& picture, const EncodedPicture& encoded) {
  MediaHeader header{.kind = MediaKind::video, .sequence = sequence_++, .time = picture.time};
  if (encoded.key) header.flags |= media_flag::key;
  if (picture.speaks) header.flags |= media_flag::speaks;
  if (lost_) header.flags |= media_flag::discontinuity;
  shown_ = picture.time;
  const bool room = socket_.unsent_for() < k_slow_gateway && (!lost_ || encoded.key);
  if (!room || !socket_.offer(media_frame(header, encoded.bytes))) {
    ++counters_.dropped;
    lost_ = key_wanted_ = true;
    return;
  }
  ++counters_.pictures;
  if (picture.lips) ++counters_.generated;
  lost_ = false;
}

void PictureTrack::leave_out() {
  ++counters_.skipped;
  note(std::nullopt);
}

void PictureTrack::note(std::optional<PictureDelay> delay) {
  const std::size_t before = rate_.step();
  if (!rate_.note(delay, Clock::now())) return;
  --counters_.sessions[before];
  ++counters_.sessions[rate_.step()];
  ++counters_.rate_changes;
  socket_.offer(quality_frame(rate_.rate(), rate_.step() > before ? "overload" : "recovered"));
}

}  // namespace navtalk::server
