// A bucket of S3 whose objects are written, read in parts and removed. Thread-safe: each call has its own
// connection. Each request is tried once; the caller decides what to repeat.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>

#include "core/artifacts/s3.h"
#include "core/artifacts/source.h"

namespace navtalk {

struct BucketOptions {
  // Larger files are sent in parts, of this size or as many bytes as make 10,000 parts.
  std::uint64_t largest_put = std::uint64_t{5} << 30;
  std::uint64_t part_bytes = std::uint64_t{64} << 20;
  std::chrono::seconds stall_timeout{20};
};

class Bucket {
 public:
  // `address`: "s3://BUCKET/PREFIX"; `variable` as SourceOptions::variable. Error{invalid} for another
  // address, for one that is not https beyond this machine, and without keys.
  Bucket(const std::string& address, const std::function<std::string(const char*)>& variable,
         BucketOptions options = {});

  const std::string& name() const { return name_; }
  // The object appears complete or not at all. `sha256` of the whole file.
  Transfer put_file(const std::string& key, const std::filesystem::path& file,
                    const std::string& sha256, const std::stop_token& stop) const;
  // So many bytes from the byte `first` on, or fewer at the end.
  Transfer read(const std::string& key, std::uint64_t first, std::uint64_t count,
                std::string& bytes, const std::stop_token& stop) const;
  // `missing` also where the bucket answers 403: so does S3 without the right to list the bucket. `refused` where
  // it does not take the keys, or does not tell a size.
  Transfer size(const std::string& key, std::uint64_t& bytes, const std::stop_token& stop) const;
  // Done also where there is none.
  Transfer remove(const std::string& key, const std::stop_token& stop) const;

 private:
  HttpRequest request(const char* method, const std::string& key) const;
  Transfer size_by_reading(const std::string& key, std::uint64_t& bytes,
                           const std::stop_token& stop) const;
  Transfer send(HttpRequest asked, const std::stop_token& stop, HttpAnswer& answer) const;

  const std::string name_;
  const S3Location location_;
  const BucketOptions options_;
};

}  // namespace navtalk
