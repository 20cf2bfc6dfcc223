#include "gpu/kernels/attention/attention.h"

#include <memory>
#include <new>

#include "gpu/kernels/parallel.h"

namespace navtalk::kernels {
namespace {

// Memory that starts where a vector may be loaded.
class Scratch {
 public:
  explicit Scratch(std::int64_t bytes)
      : data_(::operator new(static_cast<std::size_t>(bytes), k_alignment)) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { ::operator delete(data_, k_alignment); }
  std::byte* at(std::int64_t offset) const { return static_cast<std::byte*>(data_) + offset; }

 private:
  static constexpr std::align_val_t k_alignment{64};
  void* data_;
};

const HeadKernels& heads_of(Format format, Isa isa) {
  if (format == Format::bf16) return avx512_bf16_heads();
  return isa == Isa::avx512 ? avx512_fp32_heads() : avx2_fp32_heads();
}

}  // namespace

bool has_attention(Format format, Isa isa) {
  return isa == Isa::avx512 || (isa == Isa::avx2 && format == Format::fp32);
}

void attention(const Attention& task, Isa isa) {
  const HeadKernels& kernels = heads_of(task.format, isa);
  const std::int64_t units = task.images * task.heads;
  const std::int64_t size = kernels.packed_bytes(task);
  const Scratch packed(units * size);
  parallel_for(units, task.keys * task.width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t unit = begin; unit < end; ++unit)
      kernels.pack(task, unit / task.heads, unit % task.heads, packed.at(unit * size));
  });

  const std::int64_t blocks = (task.queries + k_query_rows - 1) / k_query_rows;
  parallel_for(units * blocks, task.keys * k_query_rows, [&](std::int64_t begin, std::int64_t end) {
    const Scratch scratch(kernels.scratch_bytes(task));
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t unit = i / blocks, first = i % blocks * k_query_rows;
      kernels.attend(task, unit / task.heads, unit % task.heads, packed.at(unit * size), first,
                     std::min(k_query_rows, task.queries - first), scratch.at(0));
    }
  });
}

}  // namespace navtalk::kernels
