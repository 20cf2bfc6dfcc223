// Golden files: proof that the nets compute what the Python reference computes, group by group,
// each fed with the reference's own input. Format "navtalk-golden-1"; docs/golden.md describes it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "gpu/model/model.h"

namespace navtalk {

struct GroupResult {
  std::string group, tensor;  // "decode", "decode.raw"; no tensor for a group that was skipped
  bool compared = false;      // false: the file does not hold the group
  std::string reason;         // why it was skipped
  bool passed = false;
  bool bytes = false;  // which of the differences below apply
  double max_difference =
      0;  // floats: max / std of the expected output (mel, windows: absolute); bytes: levels
  double rms_difference = 0;             // floats: rms / std
  double differing_percent = 0;          // bytes only
  double psnr_db = 0;                    // bytes only; infinity when equal
  std::string tolerance;                 // what was asked, in words
  std::optional<Precision> computed_in;  // of a net; it may be finer than what was asked for
};

// Error{invalid} when the golden file is damaged, has another format, or holds no group that is
// known.
std::vector<GroupResult> verify(const Model::Options& model, const std::filesystem::path& golden,
                                const Progress& progress = {});

}  // namespace navtalk
