#include "server/gateway/jobs/job_run.h"

#include <algorithm>
#include <array>
#include <bit>
#include <exception>
#include <fstream>
#include <utility>

#include "core/log/log.h"
#include "core/text/printable.h"
#include "scheduler/health/worker_protocol.h"
#include "server/gateway/jobs/faults/own_fault.h"
#include "server/gateway/jobs/job_request.h"
#include "server/gateway/session/slot_address.h"
#include "server/protocol/control_frame.h"
#include "server/protocol/job_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;
namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = Signal::Clock;

namespace {

// Before a worker tells of progress it brings the job's files to its disk. One of an earlier version also loads its model.
constexpr auto k_first_report_timeout = 180s;
constexpr auto k_idle_timeout = 20s;
constexpr const char* k_not_carried_on = "a job could not be carried on";
// For so long after its submission a job waits for speech that the bucket does not have: the gateway that it came to may
// have been killed before the bucket took it.
constexpr auto k_speech_patience = 1h;
constexpr std::size_t k_logged_bytes = 500;            // of a worker's message
constexpr std::uint64_t k_largest_file = 64ULL << 30;  // bytes, of a result

// Whatever a worker lacks is not found, and a start that it does not understand is a wrong usage.
bool is_of_input(const std::string& code) { return code == name(Code::invalid); }

std::string words_of(const nlohmann::json& frame, const char* member) {
  const auto found = frame.find(member);
  return found != frame.end() && found->is_string()
             ? printable_start(found->get<std::string>(), k_logged_bytes)
             : "";
}

// For yield_for_later(): a job that has waited for so long waits about as long again.
int waits_so_far(const JobRules& rules, Duration age) {
  const std::int64_t pauses = age / std::max<Duration>(rules.first_delay, 1ms);
  return static_cast<int>(
      std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(0, pauses)) + 1));
}

// Of a video. What no video lasts is a worker's fault.
VideoMinutes length_in(const nlohmann::json& frame) {
  constexpr double k_longest_s = 1e6;
  const double duration_s = frame.at("duration_s");
  if (!(duration_s >= 0 && duration_s <= k_longest_s))
    throw Error(Code::failed,
                "the worker told of a video of " + frame.at("duration_s").dump() + " s");
  return VideoMinutes(from_seconds(duration_s));
}

// What the worker is told, without its files.
JobStart start_of(const Job& job) {
  const VideoChoice choice = video_choice(job.spec);
  return {.job = job.id.text,
          .avatar = job.spec.avatar,
          .text = job.spec.text,
          .voice = job.spec.voice,
          .options = choice.options,
          .format = choice.format,
          .tells_recorded = true};
}

}  // namespace

std::string_view name(JobRun::End end) {
  constexpr std::array<std::string_view, k_job_ends> k_names = {
      "done",    "refused",   "doubted", "too_large", "no_speech",  "users",  "tenants",
      "stopped", "slot_lost", "bucket",  "gateway",   "unreadable", "worker", "lost"};
  return k_names.at(static_cast<std::size_t>(end));
}

bool goes_on(JobRun::End end) {
  using enum JobRun::End;
  return end == users || end == tenants || end == stopped || end == slot_lost || end == bucket ||
         end == gateway || end == doubted;
}

JobRun::JobRun(Parts parts, Job job, const SlotClaim& claim, Signal& changed, Earlier earlier)
    : parts_(parts),
      job_(std::move(job)),
      slot_(*claim.lease()),
      changed_(changed),
      leave_(claim, changed),
      record_(parts.store, parts.store_threads, lease(), parts.store_patience),
      files_(parts.files, parts.file_threads, parts.bucket_threads, leave_, lease()),
      earlier_(earlier),
      work_(job_.work),
      finished_(job_.finished) {}

asio::awaitable<JobRun::End> JobRun::run() {
  std::string problem;
  bool unreadable = false;
  try {
    co_return co_await work();
  } catch (const UnreadableFile& error) {
    problem = why_ = error.message();
    unreadable = true;
  } catch (const StoreFault& error) {
    problem = error.message();
    why_ = "the gateway's store did not take what came of the job";
  } catch (const OwnFault& error) {
    problem = error.message();
    why_ = "the gateway cannot keep the job's files: " + parts_.files.without_folder(problem);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (!why_.empty()) co_return co_await end_by_own_fault(std::move(problem), unreadable);
  log::error(k_not_carried_on, {{"job", job_.id.text}, {"error", problem}});
  co_return co_await give_back_or_lose(std::move(problem));
}

// A store on the same full disk is asked for as long as this job is: an expired lease would be a try.
asio::awaitable<JobRun::End> JobRun::end_by_own_fault(std::string problem, bool unreadable) {
  bool told = earlier_.gateway > 0;  // once for a job that never fits
  const auto tell = [&] {
    const auto write = std::exchange(told, true) ? &log::debug : &log::error;
    write(k_not_carried_on, {{"job", job_.id.text}, {"error", problem}});
  };
  while (!leave_.stopped()) {
    try {
      const End end = unreadable ? co_await record_unreadable() : co_await record_own_fault();
      if (end != End::lost) tell();  // otherwise its files went with the job, which was cancelled
      co_return end;
    } catch (const std::exception&) {
    }
    tell();
    co_await changed_.wait(Clock::now() + 1s);
  }
  co_return co_await give_back_or_lose(std::move(problem));
}

// Without the store the job is requeued when its lease is over.
asio::awaitable<JobRun::End> JobRun::give_back_or_lose(std::string why) {
  try {
    co_return co_await give_back(std::move(why));
  } catch (const std::exception&) {
  }
  co_return End::lost;
}

asio::awaitable<JobRun::End> JobRun::work() {
  JobStart start = start_of(job_);
  std::vector<RunFile> files;
  const std::vector<JobSegment> segments = co_await record_.segments();
  const RunFiles::Speech speech = co_await files_.gather(job_.spec.audio, segments, start, files);
  if (leave_.due() || leave_.yields()) co_return co_await leave();
  if (speech != RunFiles::Speech::here) co_return co_await record_missing(speech);
  Frame frame = job_start_frame(start);
  if (frame.bytes.size() > k_longest_job_frame) co_return co_await record_refusal();
  heard_ = Clock::now();
  const std::unique_ptr<WebSocket> worker = co_await connect();
  if (!worker) co_return co_await give_back(problem_);
  worker->on_activity([this] { changed_.notify(); });
  const bool sent = co_await send_job(*worker, frame, files);
  if (!sent) co_return co_await cut(*worker);
  for (;;) {
    const std::optional<End> end = co_await step(*worker);
    if (end) co_return *end;
  }
}

asio::awaitable<std::unique_ptr<WebSocket>> JobRun::connect() {
  std::optional<WebSocket::Address> address;
  try {
    address = slot_address(slot_, parts_.tokens, "/v1/job");
  } catch (const Error& error) {
    problem_ = error.message();
  }
  if (!address) co_return nullptr;
  WebSocket::Declined declined;
  // Also before its first report a worker that runs no more is noticed before the lease would expire.
  const SocketLimits limits{.idle_timeout = k_idle_timeout};
  std::unique_ptr<WebSocket> worker = co_await WebSocket::connect(*address, limits, declined);
  if (!worker) problem_ = "the worker declined a job: " + server::words_of(declined);
  co_return worker;
}

asio::awaitable<bool> JobRun::send_file(WebSocket& worker, const RunFile& file) {
  std::ifstream from = co_await files_.open(file);
  for (std::uint64_t left = file.bytes; left > 0;) {
    if (leave_.due()) co_return false;
    std::string piece = co_await files_.read(file, from, left);
    left -= piece.size();
    Frame frame{.text = false, .bytes = std::move(piece)};
    const bool sent = co_await worker.send(std::move(frame));
    if (!sent) co_return false;
  }
  co_return true;
}

asio::awaitable<bool> JobRun::send_job(WebSocket& worker, Frame& start,
                                       const std::vector<RunFile>& files) {
  begun_ = true;
  bool sent = co_await worker.send(std::move(start));
  for (std::size_t i = 0; sent && i < files.size(); ++i)
    sent = co_await send_file(worker, files[i]);
  heard_ = Clock::now();  // the worker had nothing to say before
  co_return sent;
}

asio::awaitable<std::optional<Frame>> JobRun::next_frame(WebSocket& worker) {
  const Duration patience = rendering_ ? parts_.report_timeout : k_first_report_timeout;
  listens_ = true;
  while (!leave_.due()) {
    if (std::optional<Frame> frame = worker.poll()) {
      heard_ = Clock::now();
      listens_ = false;
      co_return frame;
    }
    if (!worker.open() || Clock::now() - heard_ >= patience) break;
    co_await leave_.wait(heard_ + patience);
  }
  listens_ = false;
  co_return std::nullopt;
}

bool JobRun::missed_heartbeat() const {
  return listens_ && rendering_ && Clock::now() - heard_ >= parts_.heartbeat;
}

asio::awaitable<JobRun::End> JobRun::cut(WebSocket& worker) {
  if (leave_.due()) co_return co_await leave();
  std::string why =
      worker.open() ? "the worker has not reported in time" : "the connection to the worker ended";
  co_return co_await give_back(std::move(why));
}

asio::awaitable<JobRun::End> JobRun::leave() {
  if (leave_.lost()) co_return End::lost;
  const End end = leave_.stopped()     ? End::stopped
                  : leave_.slot_lost() ? End::slot_lost
                                       : End::users;
  std::string why = leave_.why();
  co_return co_await yield(end, std::move(why));
}

asio::awaitable<std::optional<JobRun::End>> JobRun::step(WebSocket& worker) {
  const std::optional<Frame> frame = co_await next_frame(worker);
  if (!frame) co_return co_await cut(worker);
  co_return co_await on_frame(worker, *frame);
}

asio::awaitable<std::optional<JobRun::End>> JobRun::on_frame(WebSocket& worker,
                                                             const Frame& frame) {
  const std::optional<nlohmann::json> object =
      frame.text ? parse_job_frame(frame.bytes) : std::nullopt;
  if (!object) co_return co_await give_back("the worker sent something else than a job's frames");
  const std::string type = object->at("type");
  if (type == job_frame::segment) co_return co_await on_segment(worker, *object);
  if (type == job_frame::result) co_return co_await on_result(worker, *object);
  if (type == job_frame::failed) co_return co_await on_failed(*object);
  if (type == frame_type::error) {
    std::string message = words_of(*object, "message");
    const std::string code = words_of(*object, "code");
    const bool superseded = code == k_superseded;
    const End end = superseded ? End::slot_lost : End::stopped;
    if (superseded || code == "drained") co_return co_await yield(end, std::move(message));
    co_return co_await give_back(std::move(message));
  }
  if (type == frame_type::draining) yield_by(Clock::now() + 8s);
  if (type == job_frame::progress) {
    rendering_ = true;
    progress_ =
        std::clamp(object->value("done", 0.0) / std::max(1.0, object->value("of", 1.0)), 0.0, 1.0);
  }
  if (type == job_frame::measured) {
    const VideoMinutes work = length_in(*object);
    work_ = work;
    const bool held = co_await record_.measure(work);
    if (!held) co_return End::lost;
  }
  co_return std::nullopt;
}

asio::awaitable<std::unique_ptr<Incoming>> JobRun::receive_file(WebSocket& worker,
                                                                std::uint64_t bytes) {
  if (bytes == 0 || bytes > k_largest_file)
    throw Error(Code::failed, "the worker announced a file of " + std::to_string(bytes) + " bytes");
  rendering_ = true;
  std::unique_ptr<Incoming> into = co_await files_.incoming();
  bool came = false;
  std::exception_ptr problem;
  try {
    came = co_await receive_into(worker, bytes, *into);
  } catch (...) {
    problem = std::current_exception();
  }
  if (!came) co_await files_.discard(into);
  if (problem) std::rethrow_exception(problem);
  co_return into;
}

asio::awaitable<bool> JobRun::receive_into(WebSocket& worker, std::uint64_t bytes, Incoming& into) {
  while (bytes > 0) {
    const std::optional<Frame> frame = co_await next_frame(worker);
    if (!frame) co_return false;
    if (frame->text || frame->bytes.empty() || frame->bytes.size() > bytes)
      throw Error(Code::failed, "a file came from the worker in other pieces than its size");
    co_await files_.append(into, frame->bytes);
    bytes -= frame->bytes.size();
  }
  co_return true;
}

asio::awaitable<std::optional<JobRun::End>> JobRun::on_segment(WebSocket& worker,
                                                               const nlohmann::json& frame) {
  const JobSegment segment{
      .index = frame.at("index"), .work = length_in(frame), .result = frame.at("record")};
  if (segment.index < 0) throw Error(Code::failed, "the worker sent a segment without a place");
  const std::uint64_t bytes = frame.at("bytes");
  std::unique_ptr<Incoming> whole = co_await receive_file(worker, bytes);
  if (!whole) co_return co_await cut(worker);
  // Whoever has the job now has that segment perhaps, and it stays.
  const bool held = co_await record_.renew();
  if (!held) {
    co_await files_.discard(whole);
    co_return End::lost;
  }
  co_await files_.keep_segment(whole, segment.index);
  const Recorded done = co_await record_.finish_segment(segment);
  if (done == Recorded::refused) co_return End::lost;
  if (leave_.due() || leave_.yields()) co_return co_await leave();
  if (done == Recorded::now && gives_way(segment.work))
    co_return co_await yield(End::tenants, "another tenant's job is next");
  Frame told = job_recorded_frame(segment.index);
  co_await worker.send(std::move(told));
  heard_ = Clock::now();  // it waited for that
  co_return std::nullopt;
}

bool JobRun::gives_way(VideoMinutes segment) {
  finished_ += segment;
  const bool goes_on = work_ - finished_ >= segment;
  return goes_on && leave_.give_way();
}

asio::awaitable<JobRun::End> JobRun::on_result(WebSocket& worker, const nlohmann::json& frame) {
  const std::string format = video_choice(job_.spec).format;
  nlohmann::json facts = {{"bytes", frame.at("bytes")},
                          {"frames", frame.at("frames")},
                          {"duration_s", frame.at("duration_s")}};
  // What is left of the try's time was spent before the first frame (scheduler/jobs/shares/lane_turn.h).
  const auto rendering = frame.find("rendering_s");
  if (rendering != frame.end() && rendering->is_number()) facts["rendering_s"] = *rendering;
  if (files_.shared()) facts["key"] = files_.result_key(format);
  const std::string result = facts.dump();
  const std::uint64_t bytes = frame.at("bytes");
  std::unique_ptr<Incoming> whole = co_await receive_file(worker, bytes);
  if (!whole) co_return co_await cut(worker);
  const Recorded intended = co_await record_.intend(result);
  if (intended == Recorded::refused) {
    co_await files_.discard(whole);
    co_return End::lost;
  }
  // A file that is there without its record is replaced by the next try.
  co_await files_.keep_result(whole, format);
  const std::vector<JobSegment> segments = co_await record_.segments();
  const Recorded done = co_await record_.finish(result);
  if (done == Recorded::refused) co_return End::lost;
  co_await files_.remove_segments(segments.size());
  co_return End::done;
}

asio::awaitable<JobRun::End> JobRun::on_failed(const nlohmann::json& frame) {
  const std::string code = words_of(frame, "code"), message = words_of(frame, "message");
  if (code == k_no_memory) co_return co_await wait_for_memory(message);
  if (!is_of_input(code)) co_return co_await give_back(message);
  why_ = message;
  if (earlier_.ask_another) co_return co_await record_doubt();
  Awaitable<Recorded> recording = record_.refuse(message);
  const Recorded done = co_await std::move(recording);
  co_return done == Recorded::refused ? End::lost : End::refused;
}

asio::awaitable<JobRun::End> JobRun::give_back(std::string why) {
  if (leave_.stopped() || leave_.slot_lost()) return leave();
  why_ = std::move(why);
  return record_failed_try();
}

// No fault of the job: what is finished of it stays, and the worker rests.
asio::awaitable<JobRun::End> JobRun::wait_for_memory(std::string why) {
  begun_ = false;
  return give_back(std::move(why));
}

asio::awaitable<JobRun::End> JobRun::yield(End end, std::string why) {
  why_ = std::move(why);
  return record_yield(end);
}

asio::awaitable<JobRun::End> JobRun::record_failed_try() {
  log::warn("a worker did not finish a job",
            {{"job", job_.id.text}, {"gpu", slot_.gpu.text}, {"why", why_}});
  Awaitable<Recorded> recording = begun_ ? record_.fail(why_) : record_.yield(why_);
  const Recorded done = co_await std::move(recording);
  co_return done == Recorded::refused ? End::lost : End::worker;
}

// Another gateway of the store may have it. The worker has nothing to do with it.
asio::awaitable<JobRun::End> JobRun::record_missing(RunFiles::Speech speech) {
  // The gateway that it came to may still bring it to the bucket.
  const Duration age = job_.changed_at - job_.submitted_at;
  const bool may_come = files_.shared() && age < k_speech_patience;
  const bool unreachable = speech == RunFiles::Speech::unreachable;
  why_ = unreachable ? "the bucket that may have the job's files does not answer"
         : may_come  ? "the bucket does not have the job's speech yet"
                     : "the gateway does not have the job's speech";
  log::warn("a job cannot begin", {{"job", job_.id.text}, {"why", why_}});
  const int times = unreachable ? 1 : waits_so_far(parts_.store.rules(), age);
  const bool waits = unreachable || may_come;
  Awaitable<Recorded> recording = waits ? record_.yield_for_later(why_, times) : record_.fail(why_);
  const Recorded done = co_await std::move(recording);
  if (done == Recorded::refused) co_return End::lost;
  co_return waits ? End::bucket : End::no_speech;
}

asio::awaitable<JobRun::End> JobRun::record_refusal() {
  why_ = "the job has more segments than a worker can be told of";
  const Recorded done = co_await record_.refuse(why_);
  co_return done == Recorded::refused ? End::lost : End::too_large;
}

// The worker itself may be at fault.
asio::awaitable<JobRun::End> JobRun::record_doubt() {
  log::warn("a worker calls a job unfit: another one is asked",
            {{"job", job_.id.text}, {"gpu", slot_.gpu.text}, {"why", why_}});
  const Recorded done = co_await record_.yield_for_later(why_);
  co_return done == Recorded::refused ? End::lost : End::doubted;
}

asio::awaitable<JobRun::End> JobRun::record_own_fault() {
  // Other jobs have their turn meanwhile, or another gateway.
  const Recorded done = co_await record_.yield_for_later(why_, earlier_.gateway + 1);
  co_return done == Recorded::refused ? End::lost : End::gateway;
}

// Other jobs have no such trouble, and another gateway may do this one meanwhile.
asio::awaitable<JobRun::End> JobRun::record_unreadable() {
  const bool is_try = earlier_.unreadable + 1 >= k_unreadable;
  Awaitable<Recorded> recording = is_try ? record_.fail(why_) : record_.yield_for_later(why_);
  const Recorded done = co_await std::move(recording);
  co_return done == Recorded::refused ? End::lost : End::unreadable;
}

asio::awaitable<JobRun::End> JobRun::record_yield(End end) {
  const Recorded done = co_await record_.yield(why_);
  co_return done == Recorded::refused ? End::lost : end;
}

}  // namespace navtalk::server
