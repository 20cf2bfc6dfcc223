#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cmd/shell.h"
#include "tests/temporary_directory.h"

using navtalk::tests::contains;
using navtalk::tests::Ran;
using navtalk::tests::shell;
using navtalk::tests::TemporaryDirectory;

namespace {

const std::string k_wide = NAVTALK_SOURCE "/tests/golden/wide";

}  // namespace

TEST_CASE("model check lists every file with state, container and checksum, and exits with 0") {
  const Ran ran = shell("navtalk --progress none model check " + k_wide + "; echo \"= $?\"\n" +
                        "cd " + k_wide + " && sha256sum whisper/model.safetensors | cut -c1-64");
  CHECK(ran.err.empty());
  CHECK(contains(ran.out, "FILE "));
  CHECK(contains(ran.out, "wide fits\n= 0\n"));
  CHECK(contains(ran.out, "face detector (S3FD)     missing, optional"));
  const std::string checksum = ran.out.substr(ran.out.size() - 65, 64);
  CHECK(ran.out.find(checksum) < ran.out.size() - 65);
}

TEST_CASE("model check --json gives shapes, dtypes and SHA-256 of each file") {
  const auto report = nlohmann::json::parse(shell("navtalk model check --json " + k_wide).out);
  CHECK(report.at("fits") == true);
  const auto& unet = report.at("files").at(1);
  CHECK(unet.at("path") == "musetalkV15/unet.safetensors");
  CHECK(unet.at("sha256").get<std::string>().size() == 64);
  CHECK(unet.at("tensors").at(1) ==
        nlohmann::json({{"name", "conv_in.weight"}, {"dtype", "F16"}, {"shape", {8, 8, 3, 3}}}));
}

TEST_CASE("model check names what is missing, cut off or of another model, and exits with 3") {
  const TemporaryDirectory top;
  const Ran ran = shell("cp -r " + k_wide +
                            " m; chmod -R u+w m\n"
                            "rm m/whisper/model.safetensors\n"
                            "truncate -s -1 m/sd-vae/diffusion_pytorch_model.safetensors\n"
                            "sed -i s/440//\\;s/12/16/ m/musetalkV15/musetalk.json\n"
                            "navtalk model check m",
                        top.path());
  CHECK(ran.status == 3);
  CHECK(contains(ran.out, "whisper/pytorch_model.bin: not there\n"));
  CHECK(contains(ran.out, "sd-vae/diffusion_pytorch_model.safetensors: "));
  CHECK(contains(ran.out, "m does not fit\n"));
}

TEST_CASE("model check of a folder that is not there exits with 4") {
  const Ran ran = shell("navtalk model check /nowhere");
  CHECK(ran.status == 4);
  CHECK(ran.out.empty());
  CHECK(contains(ran.err, "navtalk: error: /nowhere"));
}
