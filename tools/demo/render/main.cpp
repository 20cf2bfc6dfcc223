// render_head: rows of numbers in, frames of a character out. README.md has the columns.
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "tools/demo/render/tracer/frame.h"

namespace render {
namespace {

constexpr const char* k_usage =
    "usage: render_head --character NAME [--size PIXELS] [--view full|face] [--threads N] < ROWS > "
    "FRAMES\n"
    "       render_head --describe\n";

const Character* const k_characters[] = {&ada(), &theo()};

const Character& character_named(const std::string& name) {
  std::string known;
  for (const Character* character : k_characters) {
    if (character->name == name) return *character;
    known += (known.empty() ? "" : ", ") + std::string(character->name);
  }
  throw std::runtime_error("no character '" + name + "' (there are: " + known + ")");
}

struct Options {
  std::string character, view = "full";
  int size = 256, threads = 1;
  bool describe = false;
};

int whole_number(const std::string& option, const std::string& text, int low, int high) {
  std::size_t used = 0;
  int value = 0;
  try {
    value = std::stoi(text, &used);
  } catch (const std::logic_error&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || value < low || value > high)
    throw std::runtime_error(option + " is '" + text + "', not a number from " +
                             std::to_string(low) + " to " + std::to_string(high));
  return value;
}

Options parse(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string option = arguments[i];
    if (option == "--describe") {
      options.describe = true;
      continue;
    }
    if (++i == count) throw std::runtime_error(option + " has no value or is unknown\n" + k_usage);
    const std::string value = arguments[i];
    if (option == "--character")
      options.character = value;
    else if (option == "--size")
      options.size = whole_number(option, value, 4, 8192);
    else if (option == "--threads")
      options.threads = whole_number(option, value, 1, 256);
    else if (option == "--view" && (value == "full" || value == "face"))
      options.view = value;
    else
      throw std::runtime_error("unknown option '" + option + " " + value + "'\n" + k_usage);
  }
  if (options.size % 4) throw std::runtime_error("--size must be a multiple of 4");
  return options;
}

void describe() {
  std::puts("{\"characters\": {");
  const char* separator = "";
  for (const Character* c : k_characters) {
    std::printf("%s  \"%s\": {\"full_view\": [%g, %g, %g], \"face_view\": [%g, %g, %g]}", separator,
                std::string(c->name).c_str(), c->full_view.x, c->full_view.y, c->full_view.half,
                c->face_view.x, c->face_view.y, c->face_view.half);
    separator = ",\n";
  }
  std::puts("\n}}");
}

// False at the end of the input.
bool read_row(Row& row, int number) {
  float values[sizeof(Row) / sizeof(float)];
  const std::size_t got = std::fread(values, 1, sizeof values, stdin);
  if (got == 0) return false;
  if (got != sizeof values)
    throw std::runtime_error("row " + std::to_string(number) + " is cut off");
  for (float value : values)
    if (!std::isfinite(value))
      throw std::runtime_error("row " + std::to_string(number) +
                               " has a value that is not a number");
  __builtin_memcpy(&row, values, sizeof row);
  return true;
}

void render_rows(const Options& options) {
  const Character& character = character_named(options.character);
  const View preset = options.view == "face" ? character.face_view : character.full_view;
  Row row;
  for (int number = 0; read_row(row, number); ++number) {
    const View view = row.view_half > 0 ? View{row.view_x, row.view_y, row.view_half} : preset;
    const auto image = render_frame(Scene(character, row), view, options.size, options.threads);
    if (std::fwrite(image.data(), 1, image.size(), stdout) != image.size())
      throw std::runtime_error("standard output: the frame could not be written");
  }
}

int run(int count, char** arguments) {
  const Options options = parse(count, arguments);
  if (options.describe)
    describe();
  else
    render_rows(options);
  return 0;
}

}  // namespace
}  // namespace render

int main(int count, char** arguments) {
  try {
    return render::run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "render_head: %s\n", error.what());
    return 2;
  }
}
