// Nets as graphs, on a device of the test's own making.
#include "gpu/nets/graphed_net.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <catch2/catch.hpp>

#include "tests/gpu/nets/replaying_recorder.h"

namespace navtalk::nets {
namespace {

// Adds two inputs, and notes how many images each pass had.
struct Adder {
  std::shared_ptr<std::vector<std::int64_t>> passes = std::make_shared<std::vector<std::int64_t>>();
  at::Tensor operator()(const Tensors& in) const {
    passes->push_back(in[0].size(0));
    return in[0] + in[1].sum(1, true);
  }
};

struct Rig {
  std::shared_ptr<tests::ReplayingRecorder> recorder = std::make_shared<tests::ReplayingRecorder>();
  std::vector<std::string> told{};
  NetGraphs graphs{recorder, [this](const std::string& why) { told.push_back(why); }};
  Adder adder{};
  GraphedNet net{adder, {.name = "adder", .sizes = {1, 2, 4, 8}, .pass_cost = 1.7}, &graphs};

  // Inputs of `images`, others for each seed, come out as without graphs.
  void check(std::int64_t images, double seed) {
    const at::Tensor a = at::arange(images, at::kFloat).unsqueeze(1) * seed,
                     b = at::ones({images, 3}) * seed;
    const at::Tensor made = at::cat(net({a, b}));
    INFO(images << " images, seed " << seed);
    CHECK(at::equal(made, a + 3 * seed));
  }
};

}  // namespace

TEST_CASE("a batch is run, then recorded, then replayed with each call's own inputs") {
  const c10::InferenceMode inference;
  Rig rig;
  rig.check(4, 1);
  CHECK(rig.recorder->recorded == 0);
  rig.check(4, 2);
  CHECK(rig.recorder->recorded == 1);
  CHECK(rig.recorder->replayed == 1);
  rig.check(4, 3);
  CHECK(rig.recorder->recorded == 1);
  CHECK(rig.recorder->replayed == 2);
  CHECK(rig.graphs.graphs() == 1);
}

TEST_CASE("three images use the graph of four, and what it has more does not show") {
  const c10::InferenceMode inference;
  Rig rig;
  for (const double seed : {1.0, 2.0, 3.0}) {
    rig.check(4, seed);
    rig.check(3, seed + 10);
  }
  CHECK(rig.recorder->recorded == 1);
  CHECK(rig.recorder->replayed == 5);
  CHECK(std::ranges::all_of(*rig.adder.passes, [](std::int64_t size) { return size == 4; }));
}

TEST_CASE("results of an earlier replay are not those of a later one") {
  const c10::InferenceMode inference;
  Rig rig;
  // As in a graph, each pass leaves its output where the one before left it.
  const at::Tensor output = at::zeros({2, 1});
  const GraphedNet net([output](const Tensors& in) { return at::Tensor(output).copy_(in[0]); },
                       {.name = "copy", .sizes = {2}}, &rig.graphs);
  net({at::full({2, 1}, 1.0)});
  const Tensors second = net({at::full({2, 1}, 2.0)}), third = net({at::full({2, 1}, 3.0)});
  const Tensors parts = net({at::arange(4, at::kFloat).unsqueeze(1)});
  CHECK(second.at(0)[1].item<double>() == 2);
  CHECK(third.at(0)[1].item<double>() == 3);
  CHECK(at::equal(at::cat(parts), at::arange(4, at::kFloat).unsqueeze(1)));
}

TEST_CASE("other shapes are graphs of their own") {
  const c10::InferenceMode inference;
  Rig rig;
  const auto sum = [&](std::int64_t width) {
    return rig.net({at::zeros({1, 1}), at::ones({1, width})}).at(0).item<double>();
  };
  for (int i = 0; i < 3; ++i) {
    CHECK(sum(3) == 3);
    CHECK(sum(5) == 5);
  }
  CHECK(rig.recorder->recorded == 2);
}

TEST_CASE("what cannot be recorded is computed without graphs from then on, and told once") {
  const c10::InferenceMode inference;
  Rig rig;
  rig.recorder->fails = true;
  for (const double seed : {1.0, 2.0, 3.0, 4.0}) rig.check(2, seed);
  CHECK(rig.recorder->recorded == 1);
  CHECK(rig.recorder->replayed == 0);
  CHECK(rig.told ==
        std::vector<std::string>{"adder: operation not permitted when stream is capturing"});
}

TEST_CASE("without graphs a batch is computed in the same passes") {
  const c10::InferenceMode inference;
  const Adder adder;
  const GraphedNet net(adder, {.name = "adder", .sizes = {1, 2, 4, 8}, .pass_cost = 1.7}, nullptr);
  CHECK(at::cat(net({at::zeros({7, 1}), at::ones({7, 3})})).sum().item<double>() == 21);
  net({at::zeros({13, 1}), at::ones({13, 3})});
  CHECK(*adder.passes == std::vector<std::int64_t>{8, 8, 4, 1});
}

}  // namespace navtalk::nets
