// Where `navtalk job submit --wait` writes the videos, decided before anything is submitted.
#pragma once

#include <filesystem>
#include <vector>

#include "cmd/job/remote/wanted_videos.h"

namespace navtalk::cmd {

// Makes each video's `output` the file that it is written to; empty where it is not fetched. `output`
// is the file of the one video, whose ending is its format, or the folder of several, which is made with those that rows name in
// it. A video whose file has the ending of another format than it was asked for in, or of none, whose folder does not exist, whose file is that of an earlier video, or whose file exists
// although it may not be replaced (without `force`, or as it is a folder or a device), gets an error. Error{failed} where the folder cannot be made.
void choose_output_files(std::vector<WantedVideo>& videos, const std::filesystem::path& output,
                         bool force);

}  // namespace navtalk::cmd
