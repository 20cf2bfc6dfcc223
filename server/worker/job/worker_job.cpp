#include "server/worker/job/worker_job.h"

#include <fmt/format.h>

#include <boost/asio/this_coro.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/log/log.h"
#include "server/protocol/control_frame.h"
#include "server/protocol/job_order.h"

namespace navtalk::server {
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

void append(std::ofstream& to, const std::string& bytes, const fs::path& file) {
  to.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  to.flush();
  if (!to) throw Error(Code::failed, file.native() + " cannot be written");
}

std::string read_piece(std::ifstream& from) {
  std::string piece(k_file_piece, '\0');
  from.read(piece.data(), static_cast<std::streamsize>(piece.size()));
  piece.resize(static_cast<std::size_t>(from.gcount()));
  return piece;
}

// The user knows nothing of this machine's folders.
std::string without_folder(std::string message, const fs::path& folder) {
  const std::string path = (folder / "").native();
  for (std::size_t at = 0; (at = message.find(path, at)) != std::string::npos;)
    message.erase(at, path.size());
  return message;
}

}  // namespace

WorkerJob::WorkerJob(WebSocket& socket, std::shared_ptr<Renderers::Place> place,
                     BlockingThreads& files)
    : socket_(socket), place_(std::move(place)), files_(files) {}

asio::awaitable<void> WorkerJob::run() {
  std::optional<Error> problem;
  try {
    co_await render();
  } catch (const Error& error) {
    problem = error;
  } catch (const std::exception& error) {
    problem = Error(Code::failed, error.what());
  }
  socket_.on_activity({});
  place_->drop();  // one that has ended its job was given back
  if (problem) {
    log::warn("a job ended with an error", {{"error", problem->message()}});
    // Only the renderer can tell that the job is at fault.
    const nlohmann::json failed = {
        {"type", job_frame::failed}, {"code", name(Code::failed)}, {"message", problem->message()}};
    co_await send(failed);
  }
  // Behind the renderer's end, which may still write there.
  auto remove = [&] { folder_.remove(); };
  co_await files_.run(remove);
  // The gateway closes the connection once it has everything.
  for (bool more = true; more;) {
    const std::optional<Frame> frame = co_await socket_.receive();
    more = frame.has_value();
  }
  socket_.close(CloseCode::normal, "");
}

asio::awaitable<void> WorkerJob::render() {
  const JobStart start = co_await receive_start();
  if (start.job.empty()) co_return;
  const bool whole = co_await receive_files(start);
  if (!whole) co_return;
  order(start);
  // From now on the gateway hears of the job while there is progress, also while the process loads its model.
  const nlohmann::json begun = {{"type", job_frame::progress}, {"done", 0}, {"of", 0}};
  const bool open = co_await send(begun);
  if (open) co_await follow();
}

asio::awaitable<JobStart> WorkerJob::receive_start() {
  const std::optional<Frame> frame = co_await socket_.receive();
  if (!frame) co_return JobStart{};
  if (!frame->text) throw Error(Code::usage, "the first frame is a job.start");
  co_return parse_job_start(frame->bytes);
}

asio::awaitable<bool> WorkerJob::receive_file(const fs::path& file, std::uint64_t bytes) {
  auto open = [&] { return std::ofstream(file, std::ios::binary); };
  std::ofstream to = co_await files_.run(open);
  while (bytes > 0) {
    const std::optional<Frame> frame = co_await socket_.receive();
    if (!frame) co_return false;
    if (frame->text || frame->bytes.empty() || frame->bytes.size() > bytes)
      throw Error(Code::usage, "a file of the job came in other pieces than its size");
    auto write = [&] { append(to, frame->bytes, file); };
    co_await files_.run(write);
    bytes -= frame->bytes.size();
  }
  co_return true;
}

fs::path WorkerJob::segment(int index) const {
  return folder_.path() / "segments" / fmt::format("{:06}.mp4", index);
}

asio::awaitable<bool> WorkerJob::receive_files(const JobStart& start) {
  auto make = [&] { fs::create_directory(folder_.path() / "segments"); };
  co_await files_.run(make);
  const fs::path audio = folder_.path() / "audio";
  bool whole = co_await receive_file(audio, start.audio_bytes);
  for (std::size_t i = 0; whole && i < start.segments.size(); ++i) {
    const fs::path file = segment(static_cast<int>(i));
    whole = co_await receive_file(file, start.segments[i].bytes);
  }
  co_return whole;
}

void WorkerJob::order(const JobStart& start) {
  output_ = folder_.path() / ("video." + start.format);
  JobOrder order{.avatar = start.avatar,
                 .audio = start.audio_bytes == 0 ? fs::path() : folder_.path() / "audio",
                 .text = start.text,
                 .voice = start.voice,
                 .options = start.options,
                 .output = output_,
                 .segment_folder = folder_.path() / "segments",
                 .segment_records = {},
                 .waits = start.tells_recorded};
  for (const SentSegment& one : start.segments) order.segment_records.push_back(one.record);
  RendererProcess& renderer = place_->start();
  job_ = start.job;
  log::info("job begun", {{"job", start.job}, {"avatar", start.avatar}});
  renderer.order(as_line(order));
}

asio::awaitable<void> WorkerJob::follow() {
  Signal activity(co_await asio::this_coro::executor);
  const auto notify = [&activity] { activity.notify(); };
  socket_.on_activity(notify);
  place_->process()->on_activity(notify);
  bool more = true;
  while (more) {
    while (const std::optional<Frame> frame = socket_.poll()) on_frame(*frame);
    if (!socket_.open()) break;
    std::string line;
    RendererProcess& renderer = *place_->process();
    if (renderer.poll(line)) {
      more = co_await on_event(line);
      continue;
    }
    if (renderer.ended())
      throw Error(Code::failed, renderer.why_ended().empty()
                                    ? "the process that rendered the job has ended"
                                    : renderer.why_ended());
    co_await activity.wait();
  }
  socket_.on_activity({});
  if (place_->process() != nullptr) place_->process()->on_activity({});
}

// Nothing else is to come from the gateway but its end. A renderer that has ended is noticed by its output.
void WorkerJob::on_frame(const Frame& frame) {
  const std::optional<nlohmann::json> object =
      frame.text ? parse_job_frame(frame.bytes) : std::nullopt;
  if (!object || object->at("type") != job_frame::recorded || place_->process()->ended()) return;
  place_->process()->order(recorded_line(object->value("index", -1)));
}

asio::awaitable<bool> WorkerJob::on_event(const std::string& line) {
  nlohmann::json event = nlohmann::json::parse(line, nullptr, false);
  const std::string kind = event.is_object() ? event.value("event", "") : "";
  event.erase("event");
  if (kind == "progress" || kind == "measured") {
    event["type"] = kind == "progress" ? job_frame::progress : job_frame::measured;
    co_return co_await send(event);
  }
  if (kind == "segment") {
    event["type"] = job_frame::segment;
    const fs::path file = segment(event.at("index"));
    co_return co_await send_file(event, file);
  }
  if (kind == "on_cpu") {
    log::error("the CPU renders a job, because the device has no memory for it",
               {{"job", job_}, {"error", event.value("message", "")}});
    place_->note_on_cpu();
    co_return true;
  }
  if (kind != "failed" && kind != "done")
    throw Error(Code::failed, "the process that rendered the job printed something else");
  place_->give_back(kind == "done");
  if (kind == "failed") {
    event["type"] = job_frame::failed;
    event["message"] = without_folder(event.value("message", ""), folder_.path());
    co_await send(event);
  } else {
    event["type"] = job_frame::result;
    co_await send_file(event, output_);
  }
  co_return false;
}

asio::awaitable<bool> WorkerJob::send_file(nlohmann::json& frame, const fs::path& file) {
  std::ifstream from;
  auto begin = [&] {
    std::error_code missing;
    const std::uint64_t size = fs::file_size(file, missing);
    if (missing) throw Error(Code::failed, file.native() + " was not made: " + missing.message());
    from.open(file, std::ios::binary);
    return size;
  };
  const std::uint64_t bytes = co_await files_.run(begin);
  frame["bytes"] = bytes;
  bool open = co_await send(frame);
  for (std::uint64_t sent = 0; open && sent < bytes;) {
    auto read = [&] { return read_piece(from); };
    std::string piece = co_await files_.run(read);
    if (piece.empty()) throw Error(Code::failed, file.native() + " cannot be read");
    sent += piece.size();
    Frame part{.text = false, .bytes = std::move(piece)};
    open = co_await socket_.send(std::move(part));
  }
  co_return open;
}

asio::awaitable<bool> WorkerJob::send(const nlohmann::json& frame) {
  Frame text{.text = true,
             .bytes = frame.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
  co_return co_await socket_.send(std::move(text));
}

void WorkerJob::end(std::string_view code, std::string_view message) {
  socket_.offer(error_frame(code, message));
  socket_.close(CloseCode::going_away, std::string(code));
}

}  // namespace navtalk::server
