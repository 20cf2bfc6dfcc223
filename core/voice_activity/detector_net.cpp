#include "core/voice_activity/detector_net.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/check.h"
#include "core/checkpoint/half.h"
#include "core/voice_activity/trained_weights.h"

namespace navtalk {
namespace {

float logistic(float x) { return 1 / (1 + std::exp(-x)); }

// The tensors of a safetensors file: a length, a header in JSON, the values.
class Tensors {
 public:
  explicit Tensors(std::span<const unsigned char> file) {
    std::uint64_t length = 0;
    NAVTALK_CHECK(file.size() > sizeof length);
    std::memcpy(&length, file.data(), sizeof length);
    NAVTALK_CHECK(length <= file.size() - sizeof length);
    const auto header = file.subspan(sizeof length, length);
    header_ = nlohmann::json::parse(header.begin(), header.end());
    values_ = file.subspan(sizeof length + length);
  }

  std::vector<float> read(const std::string& name) const {
    const nlohmann::json& tensor = header_.at(name);
    NAVTALK_CHECK(tensor.at("dtype") == "F16");
    const auto begin = tensor.at("data_offsets").at(0).get<std::size_t>();
    const auto end = tensor.at("data_offsets").at(1).get<std::size_t>();
    NAVTALK_CHECK(begin <= end && end <= values_.size());
    std::vector<float> read((end - begin) / sizeof(std::uint16_t));
    for (std::size_t i = 0; i < read.size(); ++i) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, values_.data() + begin + i * sizeof bits, sizeof bits);
      read[i] = half_to_float(bits);
    }
    return read;
  }
  // A [outputs, inputs] is turned.
  std::vector<float> columns(const std::string& name) const {
    const std::vector<float> rows = read(name);
    const auto outputs = header_.at(name).at("shape").at(0).get<std::size_t>();
    const std::size_t inputs = rows.size() / outputs;
    std::vector<float> turned(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      turned[i % inputs * outputs + i / inputs] = rows[i];
    return turned;
  }

 private:
  nlohmann::json header_{};
  std::span<const unsigned char> values_{};
};

}  // namespace

DetectorNet::DetectorNet(std::span<const unsigned char> safetensors) {
  const Tensors tensors(safetensors);
  const auto affine = [&](const std::string& weight, const std::string& bias) {
    Affine read{.columns = tensors.columns(weight), .bias = tensors.read(bias)};
    read.outputs = read.bias.size();
    NAVTALK_CHECK(read.outputs > 0 && read.columns.size() % read.outputs == 0);
    return read;
  };
  const auto gated = [&](const std::string& name) {
    return Gated{.input = affine(name + ".weight_ih_l0", name + ".bias_ih_l0"),
                 .state = affine(name + ".weight_hh_l0", name + ".bias_hh_l0")};
  };
  dense_ = affine("dense.weight", "dense.bias");
  first_ = gated("first");
  second_ = gated("second");
  answer_ = affine("answer.weight", "answer.bias");
}

std::vector<float> DetectorNet::Affine::operator()(std::span<const float> x) const {
  NAVTALK_CHECK(x.size() * outputs == columns.size());
  std::vector<float> y = bias;
  const float* column = columns.data();
  // Two columns at a time: half as often each output is read and written.
  for (std::size_t input = 0; input + 1 < x.size(); input += 2, column += 2 * outputs) {
    const float first = x[input], second = x[input + 1];
    for (std::size_t i = 0; i < outputs; ++i)
      y[i] += first * column[i] + second * column[outputs + i];
  }
  if (x.size() % 2 != 0) {
    for (std::size_t i = 0; i < outputs; ++i) y[i] += x.back() * column[i];
  }
  return y;
}

void DetectorNet::Gated::step(std::vector<float>& state_now, std::span<const float> x) const {
  const std::size_t size = state.outputs / 3;
  state_now.resize(size);
  const std::vector<float> from_x = input(x), from_state = state(state_now);
  for (std::size_t i = 0; i < size; ++i) {
    const float reset = logistic(from_x[i] + from_state[i]);
    const float keep = logistic(from_x[size + i] + from_state[size + i]);
    const float fresh = std::tanh(from_x[2 * size + i] + reset * from_state[2 * size + i]);
    state_now[i] = (1 - keep) * fresh + keep * state_now[i];
  }
}

float DetectorNet::operator()(State& state, const SoundFeatures::Frame& heard) const {
  std::vector<float> dense = dense_(heard);
  for (float& value : dense) value = std::max(0.0F, value);
  first_.step(state.first, dense);
  second_.step(state.second, state.first);
  return logistic(answer_(state.second)[0]);
}

const DetectorNet& DetectorNet::trained() {
  static const DetectorNet net(trained_weights());
  return net;
}

}  // namespace navtalk
