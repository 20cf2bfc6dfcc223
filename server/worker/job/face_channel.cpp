#include "server/worker/job/face_channel.h"

#include <algorithm>
#include <array>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <deque>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

std::string reason(const InferenceEngine::Answer& answer) {
  using Outcome = InferenceEngine::Outcome;
  if (answer.outcome != Outcome::failed) return "the worker's nets have ended their work";
  try {
    std::rethrow_exception(answer.problem);
  } catch (const std::exception& error) {
    return std::string(error.what()).substr(0, 1000);
  } catch (...) {
    return "an unknown error";
  }
}

std::vector<std::uint8_t> as_bytes(const FaceAnswer& head, const void* data) {
  std::vector<std::uint8_t> bytes(sizeof head + head.bytes);
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, data, head.bytes);
  return bytes;
}

std::vector<std::uint8_t> answer_of(std::uint32_t number, const InferenceEngine::Answer& answer,
                                    const OfflineFace& asked) {
  if (answer.outcome == InferenceEngine::Outcome::made &&
      asked.face.values.size() == k_face_bytes) {
    return as_bytes({.number = number, .made = 1, .bytes = k_face_bytes}, asked.face.values.data());
  }
  const std::string why = reason(answer);
  return as_bytes({.number = number, .made = 0, .bytes = static_cast<std::uint32_t>(why.size())},
                  why.data());
}

}  // namespace

// Lives as long as something is read, written or drawn for it.
class FaceChannel::Link : public std::enable_shared_from_this<Link> {
 public:
  Link(const asio::any_io_executor& executor, UniqueFd socket, InferenceEngine& engine,
       FaceModel model, std::uint64_t job)
      : executor_(executor),
        socket_(executor, asio::local::stream_protocol(), socket.release()),
        engine_(engine),
        model_(std::move(model)),
        job_(job),
        window_(static_cast<std::size_t>(model_.rows) * static_cast<std::size_t>(model_.width)),
        buffer_(sizeof(FaceQuestion) + (k_latent_numbers + window_) * sizeof(float)) {}

  void begin() {
    read(name_.data(), name_.size(), [](Link& link) { link.meet(); });
  }
  void close() {
    if (std::exchange(closed_, true)) return;
    boost::system::error_code ignored;
    socket_.close(ignored);
    engine_.cancel(job_);
  }
  bool refused() const { return refused_; }

 private:
  // The connection is over with the first error, and with what is behind it.
  void read(void* to, std::size_t bytes, void (*then)(Link&)) {
    asio::async_read(
        socket_, asio::buffer(to, bytes),
        [link = shared_from_this(), then](const boost::system::error_code& gone, std::size_t) {
          if (link->closed_) return;
          gone ? link->close() : then(*link);
        });
  }

  void meet() {
    std::string ours = model_.name;
    ours.resize(name_.size());
    refused_ = !std::ranges::equal(ours, name_);
    send({static_cast<std::uint8_t>(refused_ ? 0 : 1)});
    if (!refused_) read_question();
  }

  void read_question() {
    if (reading_ || open_ >= k_most_questions) return;
    reading_ = true;
    read(buffer_.data(), buffer_.size(), [](Link& link) {
      link.reading_ = false;
      link.draw();
      link.read_question();
    });
  }

  void draw() {
    FaceQuestion question;
    std::memcpy(&question, buffer_.data(), sizeof question);
    auto face = std::make_shared<OfflineFace>(
        OfflineFace{.latent = NdArray<float>({1, 8, 32, 32}),
                    .window = NdArray<float>({1, model_.rows, model_.width})});
    const std::uint8_t* numbers = buffer_.data() + sizeof question;
    std::memcpy(face->latent.values.data(), numbers, k_latent_numbers * sizeof(float));
    std::memcpy(face->window.values.data(), numbers + k_latent_numbers * sizeof(float),
                window_ * sizeof(float));
    ++open_;
    auto done = [executor = executor_, link = weak_from_this(), number = question.number,
                 face](const InferenceEngine::Answer& answer) {
      auto bytes = std::make_shared<std::vector<std::uint8_t>>(answer_of(number, answer, *face));
      asio::post(executor, [link, bytes] {
        if (const auto self = link.lock()) self->send(std::move(*bytes));
      });
    };
    engine_.submit_offline({.session = job_, .offline = std::move(face)}, std::move(done));
  }

  void send(std::vector<std::uint8_t> bytes) {
    if (closed_) return;
    unsent_.push_back(std::move(bytes));
    if (unsent_.size() == 1) write();
  }

  void write() {
    asio::async_write(
        socket_, asio::buffer(unsent_.front()),
        [link = shared_from_this()](const boost::system::error_code& gone, std::size_t) {
          if (link->closed_) return;
          if (gone) return link->close();
          link->sent();
        });
  }

  void sent() {
    unsent_.pop_front();
    if (std::exchange(met_, true)) --open_;
    if (!unsent_.empty()) write();
    if (!refused_) read_question();
  }

  const asio::any_io_executor executor_;
  asio::local::stream_protocol::socket socket_;
  InferenceEngine& engine_;
  const FaceModel model_;
  const std::uint64_t job_;
  const std::size_t window_;  // floats
  std::array<char, k_model_name> name_{};
  std::vector<std::uint8_t> buffer_;
  std::deque<std::vector<std::uint8_t>> unsent_{};
  std::size_t open_ = 0;  // questions whose answers are not sent
  bool reading_ = false, met_ = false, refused_ = false, closed_ = false;
};

FaceChannel::FaceChannel(const asio::any_io_executor& executor, UniqueFd socket,
                         InferenceEngine& engine, FaceModel model, std::uint64_t job)
    : link_(std::make_shared<Link>(executor, std::move(socket), engine, std::move(model), job)) {
  link_->begin();
}

FaceChannel::~FaceChannel() { link_->close(); }

bool FaceChannel::refused() const { return link_->refused(); }

}  // namespace navtalk::server
