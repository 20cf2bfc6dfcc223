#include "kubernetes/api/yaml.h"

#include <yaml.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace navtalk::kubernetes {
namespace {

using nlohmann::json;

// An alias may repeat what it names, so that a short text can stand for a long one.
constexpr int k_deepest = 32, k_most_values = 100'000;

std::string place(const yaml_mark_t& mark) {
  return "line " + std::to_string(mark.line + 1) + ", column " + std::to_string(mark.column + 1);
}

class YamlDocument {
 public:
  explicit YamlDocument(const std::string& text) {
    if (yaml_parser_initialize(&parser_) == 0) throw Error(Code::failed, "no memory to read YAML");
    // libyaml does not write to it.
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
    if (yaml_parser_load(&parser_, &document_) != 0) return;
    const std::string why = parser_.problem == nullptr ? "it cannot be read" : parser_.problem;
    const std::string where = place(parser_.problem_mark);
    yaml_parser_delete(&parser_);
    throw Error(Code::invalid, where + ": " + why);
  }
  ~YamlDocument() {
    yaml_document_delete(&document_);
    yaml_parser_delete(&parser_);
  }
  YamlDocument(const YamlDocument&) = delete;
  YamlDocument& operator=(const YamlDocument&) = delete;

  json root() {
    yaml_node_t* node = yaml_document_get_root_node(&document_);
    return node == nullptr ? json() : value(*node, 1);
  }

 private:
  json value(const yaml_node_t& node, int depth) {
    if (depth > k_deepest)
      throw Error(Code::invalid, place(node.start_mark) + ": it is nested too deep");
    if (++values_ > k_most_values)
      throw Error(Code::invalid, place(node.start_mark) + ": there are too many values");
    if (node.type == YAML_SEQUENCE_NODE) return sequence(node, depth);
    if (node.type == YAML_MAPPING_NODE) return mapping(node, depth);
    return scalar(node);
  }
  static json scalar(const yaml_node_t& node) {
    const auto& text = node.data.scalar;
    std::string result(reinterpret_cast<const char*>(text.value), text.length);
    const bool plain = text.style == YAML_PLAIN_SCALAR_STYLE;
    if (plain && (result.empty() || result == "~" || result == "null")) return {};
    return result;
  }
  json sequence(const yaml_node_t& node, int depth) {
    json array = json::array();
    const auto& items = node.data.sequence.items;
    for (const int* item = items.start; item < items.top; ++item)
      array.push_back(value(*yaml_document_get_node(&document_, *item), depth + 1));
    return array;
  }
  json mapping(const yaml_node_t& node, int depth) {
    json object = json::object();
    const auto& pairs = node.data.mapping.pairs;
    for (const yaml_node_pair_t* pair = pairs.start; pair < pairs.top; ++pair) {
      const yaml_node_t& key = *yaml_document_get_node(&document_, pair->key);
      if (key.type != YAML_SCALAR_NODE)
        throw Error(Code::invalid, place(key.start_mark) + ": a key is not text");
      const auto& text = key.data.scalar;
      object[std::string(reinterpret_cast<const char*>(text.value), text.length)] =
          value(*yaml_document_get_node(&document_, pair->value), depth + 1);
    }
    return object;
  }

  yaml_parser_t parser_{};
  yaml_document_t document_{};
  int values_ = 0;
};

}  // namespace

json parse_yaml(const std::string& text) { return YamlDocument(text).root(); }

}  // namespace navtalk::kubernetes
