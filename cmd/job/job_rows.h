// The videos that `navtalk job run` is asked for: rows of a CSV file, or the files of a folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cmd/context.h"
#include "cmd/infer/infer.h"
#include "core/base/error.h"
#include "scheduler/jobs/job.h"

namespace navtalk::cmd {

struct JobRunOptions {
  InferOptions how{};  // of all videos; a row may choose the avatar and what concerns its video
  std::filesystem::path csv{}, folder{}, output_directory{}, state{};
  bool avatar_given = false;
};

struct JobRow {
  std::size_t number = 0;  // of the CSV file's rows; 0: a file of a folder
  std::string name{};      // in messages: "row 3", or the file's name
  InferOptions options{};  // paths are absolute
  JobSpec spec{};
  std::string key{};             // the same for the same video of the same recording
  std::optional<Error> error{};  // why there is no job of it
};

// In their order. A row that cannot be rendered is there with its error. Error{invalid} and
// Error{not_found} for a list that cannot be read as a whole.
std::vector<JobRow> list_job_rows(const JobRunOptions& options, const Context& context);

inline const TenantId k_local_tenant{"local"};

}  // namespace navtalk::cmd
