// The functions that -fsanitize=undefined makes instrumented code call; libubsan has no part in it.
// Each is given a block of data that begins with the place in the source.

#include <cstdio>

#include "memory.h"
#include "report.h"
#include "run.h"

namespace {

using cudaemu::Site;

struct SourceLocation {
  const char* file;
  uint32_t line;
  uint32_t column;
};

struct TypeDescriptor {
  uint16_t kind;
  uint16_t info;
  char name[1];
};

struct TypeMismatch {
  SourceLocation place;
  const TypeDescriptor* type;
  unsigned char log2_alignment;
  unsigned char kind;
};

void report(cudaError_t status, const cudaemu::Text& what, const SourceLocation& place) {
  const Site site{place.file, static_cast<int>(place.line)};
  if (cudaemu::current != nullptr) cudaemu::fail(status, what, site);
  // In host code: said at once, and the program fails at its next CUDA call.
  const auto text =
      cudaemu::format("%s in host code, %s", what.c_str(), cudaemu::format_site(site).c_str());
  std::fprintf(stderr, "cuda-emulator: %s\n", text.c_str());
  cudaemu::set_fault(cudaErrorUnknown, text.c_str());
}

void report(const char* what, const void* data) {
  report(cudaErrorLaunchFailure, cudaemu::format("%s", what),
         *static_cast<const SourceLocation*>(data));
}

}  // namespace

CUDAEMU_API void __ubsan_handle_type_mismatch_v1(const TypeMismatch* data, uintptr_t address) {
  const size_t alignment = size_t{1} << data->log2_alignment;
  if (address == 0)
    return report(cudaErrorIllegalAddress, cudaemu::format("access through a null pointer"),
                  data->place);
  if (address % alignment != 0)
    return report(cudaErrorMisalignedAddress,
                  cudaemu::format("misaligned access of %s: address %p, alignment %zu",
                                  data->type->name, reinterpret_cast<void*>(address), alignment),
                  data->place);
  report(cudaErrorIllegalAddress, cudaemu::format("access of an object that has not enough room"),
         data->place);
}

#define CUDAEMU_HANDLER(name, what, ...) \
  CUDAEMU_API void __ubsan_handle_##name(const void* data __VA_ARGS__) { report(what, data); }
#define CUDAEMU_VALUE , uintptr_t
#define CUDAEMU_VALUES , uintptr_t, uintptr_t
CUDAEMU_HANDLER(add_overflow, "integer overflow of an addition", CUDAEMU_VALUES)
CUDAEMU_HANDLER(sub_overflow, "integer overflow of a subtraction", CUDAEMU_VALUES)
CUDAEMU_HANDLER(mul_overflow, "integer overflow of a multiplication", CUDAEMU_VALUES)
CUDAEMU_HANDLER(negate_overflow, "integer overflow of a negation", CUDAEMU_VALUE)
CUDAEMU_HANDLER(divrem_overflow, "division by zero or its overflow", CUDAEMU_VALUES)
CUDAEMU_HANDLER(shift_out_of_bounds, "shift by too many bits", CUDAEMU_VALUES)
CUDAEMU_HANDLER(out_of_bounds, "array index out of bounds", CUDAEMU_VALUE)
CUDAEMU_HANDLER(load_invalid_value, "invalid value of a bool or an enum", CUDAEMU_VALUE)
CUDAEMU_HANDLER(pointer_overflow, "overflow of a pointer", CUDAEMU_VALUES)
CUDAEMU_HANDLER(vla_bound_not_positive, "array of no size", CUDAEMU_VALUE)
CUDAEMU_HANDLER(float_cast_overflow, "floating-point value too large for its type", CUDAEMU_VALUE)
CUDAEMU_HANDLER(invalid_builtin, "invalid argument of a builtin")
CUDAEMU_HANDLER(nonnull_arg, "null for an argument that cannot be")
CUDAEMU_HANDLER(nonnull_return_v1, "null returned where it cannot be", CUDAEMU_VALUE)

// The two after which no code follows.
CUDAEMU_API void __ubsan_handle_builtin_unreachable(const void* data) {
  report("unreachable code reached", data);
  __builtin_trap();
}
CUDAEMU_API void __ubsan_handle_missing_return(const void* data) {
  report("end of a function that returns a value", data);
  __builtin_trap();
}
