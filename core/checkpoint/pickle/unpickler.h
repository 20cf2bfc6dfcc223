// The restricted unpickler: protocols 2 to 5, binary opcodes only. It builds inert nodes and calls
// nothing: globals are symbols, a few of which have a meaning (pickle_symbols.h), and everything
// else becomes an opaque node. Text-mode opcodes, INST, OBJ, EXT and out-of-band buffers are
// refused.
//
//   limits: 16 MiB of data.pkl, 5 M steps (an opcode or an item copied), 1 M memo entries,
//           100 k stack entries and marks, strings of 1 MiB, integers of 255 bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/checkpoint/byte_cursor.h"
#include "core/checkpoint/pickle/pickle_graph.h"

namespace navtalk {

inline constexpr std::uint64_t k_max_pickle_bytes = std::uint64_t{16} << 20;

class Unpickler {
 public:
  explicit Unpickler(std::span<const std::byte> bytes) : in_(bytes) {}

  // Reads one pickle up to its STOP. Error{invalid} names the byte and the cause. Call once.
  PickleGraph run();
  // Bytes read, after run().
  std::size_t consumed() const { return in_.position(); }

 private:
  // Each takes the opcodes of one family and says whether it knew the one given.
  bool load_number(std::uint8_t opcode);
  bool load_text(std::uint8_t opcode);
  bool load_sequence(std::uint8_t opcode);
  bool load_mapping(std::uint8_t opcode);
  bool load_stack(std::uint8_t opcode);
  bool load_memo(std::uint8_t opcode);
  bool load_object(std::uint8_t opcode);

  void step(std::size_t count = 1);
  void push(NodeId id);
  NodeId push_node(Node node);
  NodeId pop();
  NodeId top() const;
  std::vector<NodeId> pop_to_mark();
  void push_items(NodeKind kind, std::vector<NodeId> items);
  void extend(NodeKind kind, std::vector<NodeId> items);
  void memoize(std::uint32_t index);
  void recall(std::uint32_t index);
  void push_integer(std::int64_t value);
  void push_long(std::uint64_t length);
  void push_text(NodeKind kind, std::uint64_t length);
  void push_symbol(std::string_view module, std::string_view name);

  ByteCursor in_;
  PickleGraph graph_;
  std::vector<NodeId> stack_;
  std::vector<std::size_t> marks_;  // the stack's size when MARK came
  std::unordered_map<std::uint32_t, NodeId> memo_;
  std::size_t steps_ = 0;
  bool stopped_ = false;
};

// The one pickle that fills `bytes`; Error{invalid} also when more bytes follow it.
PickleGraph unpickle_all(std::span<const std::byte> bytes);

}  // namespace navtalk
