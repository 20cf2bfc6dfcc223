// What POST /v1/jobs asks for. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "scheduler/jobs/job.h"
#include "server/gateway/jobs/speech/speech_room.h"
#include "server/http/message.h"

namespace navtalk::server {

struct JobRequest {
  NewJob job{};                  // without its tenant, and its audio's name
  std::string_view audio{};      // of the request's body, or `fetched`; empty: a text is spoken
  bool has_empty_audio = false;  // as a page's form without a file sends it
  std::string audio_url{};       // where the audio is to be fetched
  FetchedSpeech fetched{};       // from there
  double start_s = 0;            // the part of the speech that is rendered
  std::optional<double> duration_s{};
};

// Error{usage} and Error{invalid} name the member that is at fault.
JobRequest parse_job_request(const Request& request);

// Of what was asked for, as NewJob::request; before it is rewritten or fetched.
std::string request_digest(const JobRequest& request);

// By its text, until that is measured.
void guess_work(JobRequest& request);

// The job speaks this audio, whose length is guessed.
void take_audio(JobRequest& request, std::string_view audio);

// The length of the audio, in seconds, is known. Error{usage} where less than a frame of it is to be rendered, or more than the
// format holds.
void take_measured(JobRequest& request, double seconds);

// What JobSpec::options of such a job holds.
struct VideoChoice {
  std::string format = "mp4";
  std::map<std::string, std::string> options{};  // infer's, by name
};
VideoChoice video_choice(const JobSpec& spec);

}  // namespace navtalk::server
