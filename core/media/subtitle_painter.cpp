#include "core/media/subtitle_painter.h"

#include <ass/ass.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <string>
#include <string_view>

#include "core/base/cptr.h"
#include "core/base/error.h"

namespace navtalk {
namespace {

using LibraryPtr = CPtr<ASS_Library, ass_library_done>;
using RendererPtr = CPtr<ASS_Renderer, ass_renderer_done>;
using TrackPtr = CPtr<ASS_Track, ass_free_track>;

constexpr int k_least_font = 12;    // pixels
constexpr double k_font_part = 20;  // of the shorter side
constexpr double k_margin_part = 25;

std::string header(int width, int height) {
  const int side = std::min(width, height);
  const int font = std::max(k_least_font, static_cast<int>(std::lround(side / k_font_part)));
  const int margin = static_cast<int>(std::lround(side / k_margin_part));
  return fmt::format(
      "[Script Info]\nScriptType: v4.00+\nPlayResX: {}\nPlayResY: {}\nWrapStyle: 0\n"
      "ScaledBorderAndShadow: yes\n\n[V4+ Styles]\n"
      "Format: Name, Fontname, Fontsize, PrimaryColour, OutlineColour, BorderStyle, Outline, "
      "Shadow, "
      "Alignment, MarginL, MarginR, MarginV, Encoding\n"
      "Style: Default,sans-serif,{},&H00FFFFFF,&H00101010,1,{},0,2,{},{},{},1\n\n[Events]\n"
      "Format: Layer, Start, End, Style, Text\n",
      width, height, font, std::max(1, font / 12), margin, margin, margin);
}

std::string clock(double seconds) {
  const long cs = std::lround(100 * seconds);
  return fmt::format("{}:{:02}:{:02}.{:02}", cs / 360'000, cs / 6000 % 60, cs / 100 % 60, cs % 100);
}

// "{" would begin a command of the format, and "\" too.
std::string plain(const std::string& text) {
  std::string safe;
  for (const char byte : text) {
    if (byte == '\n') {
      safe += "\\N";
    } else if (byte == '{' || byte == '}') {
      safe += byte == '{' ? '(' : ')';
    } else {
      safe += byte == '\\' ? '/' : byte;
    }
  }
  return safe;
}

std::string script(int width, int height, const std::vector<Cue>& cues) {
  std::string text = header(width, height);
  for (const Cue& cue : cues)
    text += fmt::format("Dialogue: 0,{},{},Default,{}\n", clock(cue.start_s), clock(cue.end_s),
                        plain(cue.text));
  return text;
}

// libass gives the opacity of each pixel of a shape, and its colour: RGB and transparency.
void blend(ImageView bgr, const ASS_Image& shape) {
  const std::uint32_t colour = shape.color;
  const int value[3] = {static_cast<int>(colour >> 8U & 0xFFU),
                        static_cast<int>(colour >> 16U & 0xFFU), static_cast<int>(colour >> 24U)};
  const int opacity = 255 - static_cast<int>(colour & 0xFFU);
  for (int y = 0; y < shape.h; ++y) {
    const std::uint8_t* cover = shape.bitmap + std::ptrdiff_t{y} * shape.stride;
    std::uint8_t* pixel = bgr.at(shape.dst_x, shape.dst_y + y);
    for (int x = 0; x < shape.w; ++x, pixel += 3) {
      const int weight = cover[x] * opacity;
      for (int c = 0; c < 3; ++c)
        pixel[c] = static_cast<std::uint8_t>(
            (pixel[c] * (255 * 255 - weight) + value[c] * weight + 255 * 255 / 2) / (255 * 255));
    }
  }
}

}  // namespace

struct SubtitlePainter::Impl {
  bool lacks_letters = false;
  LibraryPtr library;
  RendererPtr renderer;
  TrackPtr track;

  Impl(int width, int height, const std::vector<Cue>& cues) : library(ass_library_init()) {
    // It would print about itself and fonts, and says in no other way that no font has a letter.
    if (library) {
      ass_set_message_cb(
          library.get(),
          [](int, const char* format, va_list, void* lacks) {
            constexpr std::string_view k_no_font = "failed to find any fallback with glyph";
            if (std::string_view(format).find(k_no_font) != std::string_view::npos)
              *static_cast<bool*>(lacks) = true;
          },
          &lacks_letters);
      renderer.reset(ass_renderer_init(library.get()));
    }
    if (!renderer) throw Error(Code::failed, "libass, which draws subtitles, cannot start");
    ass_set_frame_size(renderer.get(), width, height);
    ass_set_fonts(renderer.get(), nullptr, "sans-serif", ASS_FONTPROVIDER_AUTODETECT, nullptr, 1);
    std::string text = script(width, height, cues);
    track.reset(ass_read_memory(library.get(), text.data(), text.size(), nullptr));
    if (!track) throw Error(Code::failed, "libass cannot read the subtitles");
  }
};

SubtitlePainter::SubtitlePainter(int width, int height, const std::vector<Cue>& cues)
    : impl_(std::make_unique<Impl>(width, height, cues)) {}
SubtitlePainter::~SubtitlePainter() = default;

bool SubtitlePainter::lacks_letters() const { return impl_->lacks_letters; }

void SubtitlePainter::paint(ImageView bgr, double time_s) {
  const auto ms = static_cast<long long>(std::floor(1000 * time_s + 0.5));
  int changed = 0;
  for (const ASS_Image* shape =
           ass_render_frame(impl_->renderer.get(), impl_->track.get(), ms, &changed);
       shape != nullptr; shape = shape->next) {
    if (shape->w > 0 && shape->h > 0) blend(bgr, *shape);
  }
}

}  // namespace navtalk
