#include "server/gateway/jobs/job_run.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/log/log.h"
#include "core/text/printable.h"
#include "server/gateway/jobs/job_request.h"
#include "server/gateway/session/slot_address.h"
#include "server/protocol/control_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;
namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = Signal::Clock;

namespace {

constexpr auto k_renew_every = 5s;
// A store that is away is asked again for so long, which is less than a lease.
constexpr auto k_store_patience = 25s, k_store_pause = 1s;
// A worker that renders says so every second. Loading its models may take longer.
constexpr auto k_report_timeout = 25s, k_first_report_timeout = 180s;
constexpr auto k_idle_timeout = 20s;
constexpr std::size_t k_logged_bytes = 500;            // of a worker's message
constexpr std::uint64_t k_largest_file = 64ULL << 30;  // bytes, of a result

bool is_of_input(const std::string& code) {
  return code == name(Code::invalid) || code == name(Code::not_found) || code == name(Code::usage);
}

std::string read_piece(std::ifstream& from) {
  std::string piece(k_file_piece, '\0');
  from.read(piece.data(), static_cast<std::streamsize>(piece.size()));
  piece.resize(static_cast<std::size_t>(from.gcount()));
  return piece;
}

std::string words_of(const nlohmann::json& frame, const char* member) {
  const auto found = frame.find(member);
  return found != frame.end() && found->is_string()
             ? printable_start(found->get<std::string>(), k_logged_bytes)
             : "";
}

// What is recorded twice counts once, so nothing is lost by asking again.
template <class Work>
auto recorded(BlockingThreads& threads, const Work& work) -> asio::awaitable<decltype(work())> {
  const auto until = Clock::now() + k_store_patience;
  asio::steady_timer pause(co_await asio::this_coro::executor);
  for (;;) {
    try {
      co_return co_await threads.run(work);
    } catch (const Error& error) {
      if (Clock::now() >= until) throw;
      log::warn("a job's state cannot be recorded now", {{"error", error.message()}});
    }
    pause.expires_after(k_store_pause);
    co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

}  // namespace

JobRun::JobRun(Parts parts, Job job, Lease slot, Signal& changed)
    : parts_(parts),
      job_(std::move(job)),
      lease_{.job = job_.id, .epoch = job_.epoch},
      slot_(std::move(slot)),
      changed_(changed) {}

void JobRun::yield_by(Clock::time_point time) {
  yield_by_ = std::min(yield_by_.value_or(time), time);
  changed_.notify();
}

void JobRun::stop(std::string why) {
  stop_ = std::move(why);
  changed_.notify();
}

bool JobRun::must_yield_now() const {
  return !stop_.empty() || (yield_by_ && Clock::now() >= *yield_by_);
}

asio::awaitable<JobRun::End> JobRun::run() {
  std::string problem;
  try {
    co_return co_await work();
  } catch (const std::exception& error) {
    problem = error.what();
  }
  // Of this gateway: its disk, or the store, which then requeues the job when its lease is over.
  log::error("a job could not be carried on", {{"job", job_.id.text}, {"error", problem}});
  try {
    co_return co_await give_back(problem);
  } catch (const std::exception&) {
  }
  co_return End::lost;
}

asio::awaitable<JobRun::End> JobRun::work() {
  renewed_ = heard_ = Clock::now();
  const std::unique_ptr<WebSocket> worker = co_await connect();
  if (!worker) co_return co_await give_back(problem_);
  worker->on_activity([this] { changed_.notify(); });
  const bool sent = co_await send_job(*worker);
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

asio::awaitable<bool> JobRun::send_file(WebSocket& worker, const fs::path& file) {
  std::ifstream from(file, std::ios::binary);
  for (;;) {
    const bool held = co_await renew_if_due();
    if (!held || must_yield_now()) co_return false;
    auto read = [&] { return read_piece(from); };
    std::string piece = co_await parts_.file_threads.run(read);
    if (piece.empty()) co_return true;
    Frame frame{.text = false, .bytes = std::move(piece)};
    const bool sent = co_await worker.send(std::move(frame));
    if (!sent) co_return false;
  }
}

// The segments up to the first whose file is not here: what follows is rendered again.
void JobRun::add_segments(const std::vector<JobSegment>& segments, JobStart& start,
                          std::vector<fs::path>& files) const {
  for (const JobSegment& segment : segments) {
    const fs::path file = parts_.files.segment(job_.id, segment.index);
    std::error_code missing;
    const std::uint64_t bytes = fs::file_size(file, missing);
    if (missing) {
      log::warn("a finished segment is missing: it is rendered again",
                {{"job", job_.id.text}, {"segment", std::to_string(segment.index)}});
      return;
    }
    files.push_back(file);
    start.segments.push_back({.bytes = bytes, .record = segment.result});
  }
}

asio::awaitable<bool> JobRun::send_job(WebSocket& worker) {
  const VideoChoice choice = video_choice(job_.spec);
  JobStart start{.job = job_.id.text,
                 .avatar = job_.spec.avatar,
                 .text = job_.spec.text,
                 .voice = job_.spec.voice,
                 .options = choice.options,
                 .format = choice.format,
                 .tells_recorded = true};
  auto ask = [&] { return parts_.store.segments(job_.id); };
  const std::vector<JobSegment> segments = co_await recorded(parts_.store_threads, ask);
  if (parts_.files.bucket() != nullptr) {
    auto obtain = [&] { parts_.files.obtain(job_.id, job_.spec.audio, segments.size()); };
    co_await wait_for(obtain);
  }
  std::vector<fs::path> files;
  auto look = [&] {
    parts_.files.prepare(job_.id);
    if (!job_.spec.audio.empty()) {
      files.push_back(parts_.files.upload(job_.spec.audio));
      std::error_code missing;
      start.audio_bytes = fs::file_size(files.back(), missing);
      if (missing)
        throw Error(Code::failed, "the speech of the job is not in this gateway's folder");
    }
    add_segments(segments, start, files);
  };
  co_await parts_.file_threads.run(look);
  begun_ = true;
  Frame frame = job_start_frame(start);
  if (frame.bytes.size() > k_longest_job_frame)
    throw Error(Code::failed, "the job has more segments than a worker can be told of");
  bool sent = co_await worker.send(std::move(frame));
  for (std::size_t i = 0; sent && i < files.size(); ++i)
    sent = co_await send_file(worker, files[i]);
  heard_ = Clock::now();  // the worker had nothing to say before
  co_return sent;
}

asio::awaitable<std::optional<Frame>> JobRun::next_frame(WebSocket& worker) {
  const auto patience = rendering_ ? k_report_timeout : k_first_report_timeout;
  while (!must_yield_now()) {
    const bool held = co_await renew_if_due();
    if (!held) break;
    if (std::optional<Frame> frame = worker.poll()) {
      heard_ = Clock::now();
      co_return frame;
    }
    if (!worker.open() || Clock::now() - heard_ >= patience) break;
    auto until = std::min<Clock::time_point>(heard_ + patience, renewed_ + k_renew_every);
    if (yield_by_) until = std::min(until, *yield_by_);
    co_await changed_.wait(until);
  }
  co_return std::nullopt;
}

asio::awaitable<JobRun::End> JobRun::cut(WebSocket& worker) {
  if (lost_) co_return End::lost;
  if (must_yield_now()) {
    std::string why = stop_.empty() ? "users want the GPU" : stop_;
    co_return co_await yield(std::move(why));
  }
  std::string why =
      worker.open() ? "the worker has not reported in time" : "the connection to the worker ended";
  co_return co_await give_back(std::move(why));
}

asio::awaitable<std::optional<JobRun::End>> JobRun::step(WebSocket& worker) {
  const std::optional<Frame> frame = co_await next_frame(worker);
  if (!frame) co_return co_await cut(worker);
  co_return co_await on_frame(worker, *frame);
}

asio::awaitable<bool> JobRun::renew_if_due() {
  if (Clock::now() - renewed_ < k_renew_every) co_return true;
  renewed_ = Clock::now();
  // Without the store nobody else can claim the job, and the worker goes on.
  auto renew = [this] {
    try {
      return parts_.store.renew(lease_, parts_.store.now());
    } catch (const Error& error) {
      log::warn("a job's lease cannot be renewed now",
                {{"job", job_.id.text}, {"error", error.message()}});
      return true;
    }
  };
  const bool held = co_await parts_.store_threads.run(renew);
  lost_ = !held;
  co_return held;
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
  if (type == frame_type::error) co_return co_await give_back(words_of(*object, "message"));
  if (type == frame_type::draining) yield_by(Clock::now() + 8s);
  if (type == job_frame::progress) {
    rendering_ = true;
    progress_ =
        std::clamp(object->value("done", 0.0) / std::max(1.0, object->value("of", 1.0)), 0.0, 1.0);
  }
  if (type == job_frame::measured) {
    const VideoMinutes work(from_seconds(std::max(0.0, object->value("duration_s", 0.0))));
    auto measure = [&] { return parts_.store.measure(lease_, work); };
    const bool held = co_await recorded(parts_.store_threads, measure);
    if (!held) co_return End::lost;
  }
  co_return std::nullopt;
}

asio::awaitable<bool> JobRun::receive_file(WebSocket& worker, std::uint64_t bytes,
                                           const PartialPath& into) {
  if (bytes == 0 || bytes > k_largest_file)
    throw Error(Code::failed, "the worker announced a file of " + std::to_string(bytes) + " bytes");
  rendering_ = true;
  std::ofstream to(into.path(), std::ios::binary);
  while (bytes > 0) {
    const std::optional<Frame> frame = co_await next_frame(worker);
    if (!frame) co_return false;
    if (frame->text || frame->bytes.empty() || frame->bytes.size() > bytes)
      throw Error(Code::failed, "a file came from the worker in other pieces than its size");
    auto write = [&] {
      to.write(frame->bytes.data(), static_cast<std::streamsize>(frame->bytes.size()));
      to.flush();
      if (!to) throw Error(Code::failed, into.named("a job's file cannot be written"));
    };
    co_await parts_.file_threads.run(write);
    bytes -= frame->bytes.size();
  }
  co_return true;
}

asio::awaitable<void> JobRun::keep(PartialPath& whole, const fs::path& name) {
  auto put = [&] {
    whole.commit();
    parts_.files.put(whole.target(), name);
  };
  co_await parts_.file_threads.run(put);
}

template <class Work>
asio::awaitable<void> JobRun::wait_for(Work work) {
  const auto executor = co_await asio::this_coro::executor;
  Signal ended(executor);
  bool over = false;
  std::exception_ptr problem;
  auto follow = [&]() -> asio::awaitable<void> {
    try {
      co_await parts_.bucket_threads.run(work);
    } catch (...) {
      problem = std::current_exception();
    }
    over = true;
    ended.notify();
  };
  asio::co_spawn(executor, follow, asio::detached);
  while (!over) {
    // A lease that is lost is noticed when the outcome is recorded.
    co_await renew_if_due();
    if (!over) co_await ended.wait(Clock::now() + 1s);
  }
  heard_ = Clock::now();  // the worker waits for an answer
  if (problem) std::rethrow_exception(problem);
}

asio::awaitable<void> JobRun::share_segment(int index) {
  if (parts_.files.bucket() == nullptr) co_return;
  auto share = [&] { parts_.files.share_segment(job_.id, index); };
  co_await wait_for(share);
}

asio::awaitable<void> JobRun::share_result(const std::string& format, const std::string& key) {
  if (parts_.files.bucket() == nullptr) co_return;
  auto share = [&] { parts_.files.share_result(job_.id, format, key); };
  co_await wait_for(share);
}

// Nobody waits for it.
void JobRun::unshare_segments(std::size_t count) const {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < count; ++i)
    keys.push_back(JobBucket::segment_key(job_.id, static_cast<int>(i)));
  if (keys.empty()) return;
  parts_.bucket_threads.post([&files = parts_.files, keys] { files.unshare(keys); });
}

asio::awaitable<std::optional<JobRun::End>> JobRun::on_segment(WebSocket& worker,
                                                               const nlohmann::json& frame) {
  const JobSegment segment{.index = frame.at("index"),
                           .work = VideoMinutes(from_seconds(frame.at("duration_s").get<double>())),
                           .result = frame.at("record")};
  if (segment.index < 0) throw Error(Code::failed, "the worker sent a segment without a place");
  PartialPath whole(parts_.files.incoming(job_.id, lease_.epoch));
  const std::uint64_t bytes = frame.at("bytes");
  const bool came = co_await receive_file(worker, bytes, whole);
  if (!came) co_return co_await cut(worker);
  // Whoever has the job now has that segment perhaps, and it stays.
  auto renew = [&] { return parts_.store.renew(lease_, parts_.store.now()); };
  const bool held = co_await recorded(parts_.store_threads, renew);
  if (!held) co_return End::lost;
  const fs::path file = parts_.files.segment(job_.id, segment.index);
  co_await keep(whole, file);
  co_await share_segment(segment.index);
  auto record = [&] { return parts_.store.finish_segment(lease_, segment, parts_.store.now()); };
  const Recorded done = co_await recorded(parts_.store_threads, record);
  if (done == Recorded::refused) co_return End::lost;
  renewed_ = Clock::now();
  if (yields()) co_return co_await yield("users want the GPU");
  Frame told = job_recorded_frame(segment.index);
  co_await worker.send(std::move(told));
  co_return std::nullopt;
}

asio::awaitable<JobRun::End> JobRun::on_result(WebSocket& worker, const nlohmann::json& frame) {
  const std::string format = video_choice(job_.spec).format;
  nlohmann::json facts = {{"bytes", frame.at("bytes")},
                          {"frames", frame.at("frames")},
                          {"duration_s", frame.at("duration_s")}};
  const std::string key = JobBucket::result_key(job_.id, lease_.epoch, format);
  if (parts_.files.bucket() != nullptr) facts["key"] = key;
  const std::string result = facts.dump();
  PartialPath whole(parts_.files.incoming(job_.id, lease_.epoch));
  const std::uint64_t bytes = frame.at("bytes");
  const bool came = co_await receive_file(worker, bytes, whole);
  if (!came) co_return co_await cut(worker);
  auto intend = [&] { return parts_.store.intend(lease_, result, parts_.store.now()); };
  const Recorded intended = co_await recorded(parts_.store_threads, intend);
  if (intended == Recorded::refused) co_return End::lost;
  // A file that is there without its record is replaced by the next try.
  const fs::path file = parts_.files.result(job_.id, format);
  co_await keep(whole, file);
  co_await share_result(format, key);
  auto finish = [&] {
    std::size_t segments = 0;
    if (parts_.files.bucket() != nullptr) segments = parts_.store.segments(job_.id).size();
    const Recorded known = parts_.store.finish(lease_, result, parts_.store.now());
    if (known == Recorded::refused) return known;
    parts_.files.remove_segments(job_.id);
    unshare_segments(segments);
    return known;
  };
  const Recorded done = co_await recorded(parts_.store_threads, finish);
  co_return done == Recorded::refused ? End::lost : End::over;
}

asio::awaitable<JobRun::End> JobRun::on_failed(const nlohmann::json& frame) {
  const std::string code = words_of(frame, "code"), message = words_of(frame, "message");
  auto record = [&] {
    return is_of_input(code) ? parts_.store.refuse(lease_, message, parts_.store.now())
                             : parts_.store.fail(lease_, message, parts_.store.now());
  };
  const Recorded done = co_await recorded(parts_.store_threads, record);
  co_return done == Recorded::refused ? End::lost : End::over;
}

asio::awaitable<JobRun::End> JobRun::give_back(std::string why) {
  if (!stop_.empty()) return yield(stop_);
  why_ = std::move(why);
  return record_failed_try();
}

asio::awaitable<JobRun::End> JobRun::yield(std::string why) {
  why_ = std::move(why);
  return record_yield();
}

asio::awaitable<JobRun::End> JobRun::record_failed_try() {
  log::warn("a worker did not finish a job",
            {{"job", job_.id.text}, {"gpu", slot_.gpu.text}, {"why", why_}});
  auto record = [&] {
    return begun_ ? parts_.store.fail(lease_, why_, parts_.store.now())
                  : parts_.store.yield(lease_, why_, parts_.store.now());
  };
  const Recorded done = co_await recorded(parts_.store_threads, record);
  co_return done == Recorded::refused ? End::lost : End::worker;
}

asio::awaitable<JobRun::End> JobRun::record_yield() {
  auto record = [&] { return parts_.store.yield(lease_, why_, parts_.store.now()); };
  const Recorded done = co_await recorded(parts_.store_threads, record);
  co_return done == Recorded::refused ? End::lost : End::yielded;
}

}  // namespace navtalk::server
