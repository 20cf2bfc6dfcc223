#include "core/checkpoint/pickle/unpickler.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "core/base/error.h"
#include "core/checkpoint/pickle/pickle_opcodes.h"
#include "core/checkpoint/pickle/pickle_symbols.h"
#include "core/checkpoint/refuse.h"

namespace navtalk {
namespace {

constexpr std::size_t k_max_steps = 5'000'000;
constexpr std::size_t k_max_memo = 1'000'000;
constexpr std::size_t k_max_stack = 100'000;
constexpr std::uint64_t k_max_long_bytes = 255;
constexpr std::uint64_t k_max_string_bytes = std::uint64_t{1} << 20;

}  // namespace

PickleGraph Unpickler::run() {
  std::size_t at = in_.position();
  try {
    while (!stopped_) {
      at = in_.position();
      step();
      const std::uint8_t opcode = in_.u8();
      const bool known = load_number(opcode) || load_text(opcode) || load_sequence(opcode) ||
                         load_mapping(opcode) || load_stack(opcode) || load_memo(opcode) ||
                         load_object(opcode);
      if (!known)
        refuse(fmt::format("opcode {:#04x} is not one of those that navtalk reads", opcode));
    }
  } catch (const Error& error) {
    throw error.within(fmt::format("pickle, byte {}", at));
  }
  return std::move(graph_);
}

PickleGraph unpickle_all(std::span<const std::byte> bytes) {
  Unpickler unpickler(bytes);
  PickleGraph graph = unpickler.run();
  if (unpickler.consumed() != bytes.size())
    refuse(
        fmt::format("{} bytes follow the end of the pickle", bytes.size() - unpickler.consumed()));
  return graph;
}

bool Unpickler::load_number(std::uint8_t opcode) {
  switch (opcode) {
    case op::k_none:
      push_node({.kind = NodeKind::none});
      return true;
    case op::k_new_true:
      push_node({.kind = NodeKind::boolean, .integer = 1});
      return true;
    case op::k_new_false:
      push_node({.kind = NodeKind::boolean, .integer = 0});
      return true;
    case op::k_bin_int:
      push_integer(static_cast<std::int32_t>(in_.u32()));
      return true;
    case op::k_bin_int1:
      push_integer(in_.u8());
      return true;
    case op::k_bin_int2:
      push_integer(in_.u16());
      return true;
    case op::k_long1:
      push_long(in_.u8());
      return true;
    case op::k_long4:
      push_long(in_.u32());
      return true;
    case op::k_bin_float: {  // the one big-endian number of the format
      const double value = std::bit_cast<double>(__builtin_bswap64(in_.u64()));
      push_node({.kind = NodeKind::real, .real = value});
      return true;
    }
    default:
      return false;
  }
}

bool Unpickler::load_text(std::uint8_t opcode) {
  switch (opcode) {
    case op::k_short_bin_string:
      push_text(NodeKind::string, in_.u8());
      return true;
    case op::k_bin_string:
      push_text(NodeKind::string, in_.u32());
      return true;
    case op::k_bin_unicode:
      push_text(NodeKind::string, in_.u32());
      return true;
    case op::k_short_bin_unicode:
      push_text(NodeKind::string, in_.u8());
      return true;
    case op::k_bin_unicode8:
      push_text(NodeKind::string, in_.u64());
      return true;
    case op::k_bin_bytes:
      push_text(NodeKind::bytes, in_.u32());
      return true;
    case op::k_short_bin_bytes:
      push_text(NodeKind::bytes, in_.u8());
      return true;
    case op::k_bin_bytes8:
      push_text(NodeKind::bytes, in_.u64());
      return true;
    case op::k_byte_array8:
      push_text(NodeKind::bytes, in_.u64());
      return true;
    default:
      return false;
  }
}

bool Unpickler::load_sequence(std::uint8_t opcode) {
  switch (opcode) {
    case op::k_empty_list:
      push_items(NodeKind::list, {});
      return true;
    case op::k_append:
      extend(NodeKind::list, {pop()});
      return true;
    case op::k_appends:
      extend(NodeKind::list, pop_to_mark());
      return true;
    case op::k_empty_tuple:
      push_items(NodeKind::tuple, {});
      return true;
    case op::k_tuple:
      push_items(NodeKind::tuple, pop_to_mark());
      return true;
    case op::k_tuple1:
    case op::k_tuple2:
    case op::k_tuple3: {
      std::vector<NodeId> items(static_cast<std::size_t>(opcode - op::k_tuple1 + 1));
      std::generate(items.rbegin(), items.rend(), [this] { return pop(); });
      push_items(NodeKind::tuple, std::move(items));
      return true;
    }
    case op::k_empty_set:
      push_items(NodeKind::set, {});
      return true;
    case op::k_add_items:
      extend(NodeKind::set, pop_to_mark());
      return true;
    case op::k_frozen_set:
      push_items(NodeKind::set, pop_to_mark());
      return true;
    default:
      return false;
  }
}

bool Unpickler::load_mapping(std::uint8_t opcode) {
  switch (opcode) {
    case op::k_empty_dict:
      push_items(NodeKind::dict, {});
      return true;
    case op::k_set_item: {
      const NodeId value = pop();
      const NodeId key = pop();
      extend(NodeKind::dict, {key, value});
      return true;
    }
    case op::k_set_items: {
      std::vector<NodeId> items = pop_to_mark();
      if (items.size() % 2 != 0) refuse("a key without a value");
      extend(NodeKind::dict, std::move(items));
      return true;
    }
    default:
      return false;
  }
}

bool Unpickler::load_stack(std::uint8_t opcode) {
  switch (opcode) {
    case op::k_proto:
      if (const int protocol = in_.u8(); protocol > 5)
        refuse(fmt::format("pickle protocol {} is newer than 5", protocol));
      return true;
    case op::k_frame:
      in_.take(8);
      return true;
    case op::k_stop:
      graph_.root = pop();
      if (!stack_.empty() || !marks_.empty()) refuse("values are left over at the end");
      stopped_ = true;
      return true;
    case op::k_mark:
      if (marks_.size() >= k_max_stack) refuse("too many marks");
      marks_.push_back(stack_.size());
      return true;
    case op::k_pop:
      if (!marks_.empty() && stack_.size() == marks_.back())
        marks_.pop_back();
      else
        pop();
      return true;
    case op::k_pop_mark:
      pop_to_mark();
      return true;
    case op::k_dup:
      push(top());
      return true;
    default:
      return false;
  }
}

bool Unpickler::load_memo(std::uint8_t opcode) {
  switch (opcode) {
    case op::k_bin_put:
      memoize(in_.u8());
      return true;
    case op::k_long_bin_put:
      memoize(in_.u32());
      return true;
    case op::k_memoize:
      memoize(static_cast<std::uint32_t>(memo_.size()));
      return true;
    case op::k_bin_get:
      recall(in_.u8());
      return true;
    case op::k_long_bin_get:
      recall(in_.u32());
      return true;
    default:
      return false;
  }
}

bool Unpickler::load_object(std::uint8_t opcode) {
  PickleSymbols symbols(graph_);
  switch (opcode) {
    case op::k_global: {
      const std::string_view module = in_.take_line();
      push_symbol(module, in_.take_line());
      return true;
    }
    case op::k_stack_global: {
      const NodeId name = pop();
      const NodeId module = pop();
      if (graph_[name].kind != NodeKind::string || graph_[module].kind != NodeKind::string)
        refuse("a global that is not named by two strings");
      push_symbol(graph_[module].text, graph_[name].text);
      return true;
    }
    case op::k_reduce: {
      const NodeId arguments = pop();
      const NodeId callable = pop();
      step(symbols.cost(arguments));
      push(symbols.reduce(callable, arguments));
      return true;
    }
    case op::k_new_obj_ex:
      pop();
      [[fallthrough]];
    case op::k_new_obj:
      pop();
      symbols.require_callable(pop());
      push_node({.kind = NodeKind::opaque});
      return true;
    case op::k_build: {
      const NodeId state = pop();
      symbols.build(top(), state);
      return true;
    }
    case op::k_bin_pers_id:
      push(symbols.persistent(pop()));
      return true;
    default:
      return false;
  }
}

void Unpickler::step(std::size_t count) {
  steps_ += count;
  if (steps_ > k_max_steps) refuse(fmt::format("more than {} steps", k_max_steps));
}

void Unpickler::push(NodeId id) {
  if (stack_.size() >= k_max_stack) refuse("the stack grows too deep");
  stack_.push_back(id);
}

NodeId Unpickler::push_node(Node node) {
  const auto id = static_cast<NodeId>(graph_.nodes.size());
  graph_.nodes.push_back(std::move(node));
  push(id);
  return id;
}

NodeId Unpickler::top() const {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() <= floor) refuse("the stack is empty where a value is needed");
  return stack_.back();
}

NodeId Unpickler::pop() {
  const NodeId id = top();
  stack_.pop_back();
  return id;
}

std::vector<NodeId> Unpickler::pop_to_mark() {
  if (marks_.empty()) refuse("no mark where one is needed");
  const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<NodeId> items(first, stack_.end());
  stack_.erase(first, stack_.end());
  marks_.pop_back();
  return items;
}

void Unpickler::push_items(NodeKind kind, std::vector<NodeId> items) {
  push_node({.kind = kind, .items = std::move(items)});
}

// Items go into the container on top; an opaque object takes them and forgets them.
void Unpickler::extend(NodeKind kind, std::vector<NodeId> items) {
  Node& container = graph_.nodes[top()];
  if (container.kind == NodeKind::opaque) return;
  if (container.kind != kind) refuse("items for something that is not a container of that kind");
  container.items.insert(container.items.end(), items.begin(), items.end());
}

void Unpickler::memoize(std::uint32_t index) {
  if (memo_.size() >= k_max_memo) refuse("too many memo entries");
  memo_[index] = top();
}

void Unpickler::recall(std::uint32_t index) {
  const auto found = memo_.find(index);
  if (found == memo_.end()) refuse(fmt::format("memo entry {} was never stored", index));
  push(found->second);
}

void Unpickler::push_integer(std::int64_t value) {
  push_node({.kind = NodeKind::integer, .integer = value});
}

// Two's complement, little-endian. What does not fit 64 bits is kept as an opaque object.
void Unpickler::push_long(std::uint64_t length) {
  if (length > k_max_long_bytes) refuse(fmt::format("an integer of {} bytes", length));
  const auto bytes = in_.take(length);
  if (length > 8) {
    push_node({.kind = NodeKind::opaque});
    return;
  }
  const bool negative = length > 0 && (std::to_integer<unsigned>(bytes.back()) & 0x80U) != 0;
  std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
  for (std::size_t i = length; i-- > 0;)
    value = (value << 8) | std::to_integer<std::uint64_t>(bytes[i]);
  push_integer(static_cast<std::int64_t>(value));
}

// Bytes may be long (arrays are pickled as bytes): they are not copied.
void Unpickler::push_text(NodeKind kind, std::uint64_t length) {
  if (kind == NodeKind::string && length > k_max_string_bytes)
    refuse(fmt::format("a string of {} bytes", length));
  push_node({.kind = kind, .text = in_.take_text(length)});
}

void Unpickler::push_symbol(std::string_view module, std::string_view name) {
  const auto index = static_cast<std::int64_t>(graph_.symbols.size());
  graph_.symbols.push_back({.module = module, .name = name});
  push_node({.kind = NodeKind::symbol, .integer = index});
}

}  // namespace navtalk
