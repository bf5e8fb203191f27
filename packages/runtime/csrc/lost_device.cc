#include "lost_device.h"

#include <array>
#include <cstring>
#include <string>

#include "cuda_backend.h"

namespace ww {
namespace {

std::atomic<const char*>& cause_of(int32_t device) {
  // Never destroyed: calls fail until the very end of the process.
  static auto& causes = *new std::array<std::atomic<const char*>, cuda::kMaxDevices>{};
  return causes[device];
}

void lose(int device, const std::string& text) {
  char* cause = strdup(text.c_str());
  const char* none = nullptr;
  if (!cause_of(device).compare_exchange_strong(none, cause)) std::free(cause);
}

}  // namespace

void report_status(int32_t device, cudaError_t status) {
  if (device < 0 || device >= cuda::kMaxDevices || !cuda::is_sticky(status)) return;
  const std::string text = std::string(cuda::error_name(status)) + ": " + cuda::error_text(status);
  lose(device, text);
  if (!cuda::ends_all_devices(status)) return;
  for (int other = 0; other < cuda::kMaxDevices; ++other)
    lose(other, text + ", on cuda:" + std::to_string(device));
}

const std::atomic<const char*>& lost_cause(int32_t device) { return cause_of(device); }

}  // namespace ww
