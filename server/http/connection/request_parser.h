// Judges one HTTP request from its bytes, first by its header and then with its body. What two
// readers could understand differently is refused. No I/O: RequestReader feeds it from a connection,
// and the fuzzers from memory. Private to server/http: it brings Beast.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "server/http/message.h"

namespace navtalk::server {

class RequestParser {
 public:
  using Buffer = boost::beast::flat_buffer;
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  using Message = Parser::value_type;

  struct Limits {
    std::uint32_t header_bytes = 16 << 10;
    // Of the data; and once more of what frames them: chunk sizes, extensions and the trailer.
    std::uint64_t body_bytes = 1 << 20;
  };
  enum class Step {
    needs_more,  // bytes of this request
    done,
    refused,  // refusal() says why; nothing more of the connection can be understood
  };

  explicit RequestParser(const Limits& limits);

  // After the header: this request's body has a lower limit. refused: it is announced as longer.
  Step limit_body(std::uint64_t bytes);

  // Each takes off `buffer` what belongs to the request, as far as it is there. The buffer's maximum
  // bounds a chunk's extensions and the trailer. The header comes first. What is refused may be refused
  // earlier when more of it comes at once; what is accepted does not depend on that.
  Step take_header(Buffer& buffer);
  Step take_body(Buffer& buffer);

  const Response& refusal() const { return refusal_; }
  // After the header: does the peer wait to be asked for the body ("Expect: 100-continue")?
  bool awaits_continue() const;
  // Is there no more of the request to come?
  bool complete() const { return parser_.is_done(); }
  const Message& message() const { return parser_.get(); }
  // After the body, without what its trailer says: nobody has judged that.
  Message take();

 private:
  Step refuse(Response response);
  Step refuse(const boost::beast::error_code& error);
  void check_chunk(std::uint64_t size, std::string_view extensions,
                   boost::beast::error_code& error);
  bool is_full(const Buffer& buffer) const { return buffer.size() == buffer.max_size(); }

  std::size_t header_limit_;
  std::uint64_t overhead_limit_;
  std::uint64_t body_taken_ = 0;   // bytes of the body as it came
  const char* trailer_ = nullptr;  // in the buffer that the parser is given, once it came
  // The parser refers to it.
  std::function<void(std::uint64_t, boost::beast::string_view, boost::beast::error_code&)>
      on_chunk_{[this](std::uint64_t size, boost::beast::string_view extensions,
                       boost::beast::error_code& error) { check_chunk(size, extensions, error); }};
  Parser parser_;
  std::string header_{};                          // as it came
  std::optional<Message::header_type> judged_{};  // where a trailer may follow
  Response refusal_{};
};

// What handlers see of it; without path, query and body.
Request request_of(const RequestParser::Message& message);

}  // namespace navtalk::server
