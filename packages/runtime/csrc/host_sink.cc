#include "host_sink.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "cpu_memory.h"
#include "thread_pool.h"

// Linux 5.14; older headers lack the name, older kernels refuse the number.
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace ww {
namespace {

// Smaller blocks come from the heap, whose pages are mostly there.
constexpr size_t kMinBytes = size_t{1} << 20;
// Larger ones would push everything else out of the caches.
constexpr size_t kStreamedBytes = size_t{32} << 20;
constexpr uintptr_t kPiece = uintptr_t{2} << 20;  // a huge page
constexpr size_t kWindow = 16 * kPiece;           // a piece for each of 16 threads

// Of addresses of pages.
struct Range {
  uintptr_t begin;
  uintptr_t end;
};

uintptr_t page_bytes() {
  static const auto bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// The pages that lie wholly inside the bytes [begin, end) of a block.
Range pages_of(const void* data, size_t begin, size_t end) {
  const uintptr_t page = page_bytes();
  const auto base = reinterpret_cast<uintptr_t>(data);
  return {(base + begin + page - 1) / page * page, (base + end) / page * page};
}

void advise(const Range& range, int advice) {
  // A wish: what the system refuses, the first touch does.
  madvise(reinterpret_cast<void*>(range.begin), range.end - range.begin, advice);
}

// Makes the pages, whose content stays as it is. Blocks are filled from start to end, so the last
// page tells whether they are there already: asking for each would cost more than the copy.
void populate_piece(const Range& piece) {
  unsigned char present = 0;
  const uintptr_t page = page_bytes();
  if (mincore(reinterpret_cast<void*>(piece.end - page), page, &present) == 0 && present & 1)
    return;
  advise(piece, MADV_POPULATE_WRITE);
}

void populate(Range range) {
  if (range.begin >= range.end) return;
  const auto first = static_cast<int64_t>(range.begin / kPiece);
  const auto last = static_cast<int64_t>((range.end - 1) / kPiece);
  parallel_for(
      last - first + 1, 1,
      [](void* context, int64_t begin, int64_t end) {
        const auto& range = *static_cast<const Range*>(context);
        const uintptr_t start = range.begin / kPiece * kPiece;
        for (int64_t i = begin; i < end; ++i)
          populate_piece({std::max(range.begin, start + i * kPiece),
                          std::min(range.end, start + (i + 1) * kPiece)});
      },
      &range);
}

}  // namespace

void HostSink::write(void* data, size_t bytes, size_t offset, const void* src, size_t size) {
  if (bytes >= kMinBytes && offset + size > populated_) {
    if (populated_ == 0) advise(pages_of(data, 0, bytes), MADV_HUGEPAGE);
    const size_t end = std::min(bytes, std::max(offset + size, populated_ + kWindow));
    populate(pages_of(data, populated_, end));
    populated_ = end;
  }
  auto* copy = bytes >= kStreamedBytes ? cpu_copy_past_caches : cpu_copy;
  copy(static_cast<char*>(data) + offset, src, size);
}

void fill_host(void* data, const void* src, size_t bytes) {
  HostSink sink;
  for (size_t done = 0; done < bytes; done += kWindow)
    sink.write(data, bytes, done, static_cast<const char*>(src) + done,
               std::min(kWindow, bytes - done));
}

}  // namespace ww
