#include "report.h"

#include <dlfcn.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "api.h"
#include "memory.h"

namespace cudaemu {
namespace {

struct FaultState {
  cudaError_t status = cudaSuccess;
  std::string report;
};

FaultState& state() {
  static auto& instance = *new FaultState;
  return instance;
}

struct Symbol {
  std::string function;
  std::string line;
};

std::string read_line(FILE* pipe) {
  char line[4096];
  if (std::fgets(line, sizeof(line), pipe) == nullptr) return "";
  line[std::strcspn(line, "\n")] = '\0';
  return line;
}

// By binutils, which come with the compiler that built the kernels. Not under LD_PRELOAD: the
// sanitizer would be loaded into it too.
Symbol symbolize(const void* code) {
  Dl_info module{};
  if (dladdr(code, &module) == 0 || module.dli_fname == nullptr) return {};
  const auto offset = static_cast<const char*>(code) - static_cast<const char*>(module.dli_fbase);
  const Text command = format("LD_PRELOAD= addr2line -Cfe '%s' 0x%zx 2>/dev/null", module.dli_fname,
                              static_cast<size_t>(offset));
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  Symbol symbol;
  symbol.function = read_line(pipe);
  symbol.line = read_line(pipe);
  pclose(pipe);
  return symbol;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

void set_fault(cudaError_t status, std::string report) {
  if (fault_status() == cudaSuccess) state() = {status, std::move(report)};
}

cudaError_t fault_status() { return state().status; }
std::string fault_report() { return state().report; }

void clear_fault() { state() = {}; }

// Empty in the emulator itself, which a stack may overflow into.
std::string source_line(const void* code) {
  Dl_info module{};
  Dl_info here{};
  dladdr(code, &module);
  dladdr(reinterpret_cast<const void*>(clear_fault), &here);
  if (module.dli_fbase == here.dli_fbase) return "";
  const std::string line = base_name(symbolize(code).line);
  return line.starts_with("??") ? "" : line.substr(0, line.find(' '));
}

// Without the return type, parameters and namespaces.
std::string function_name(const void* code) {
  std::string name = symbolize(code).function;
  name = name.substr(0, name.rfind('('));
  const size_t scope = name.rfind("::", name.find('<'));
  if (scope != std::string::npos) name.erase(0, scope + 2);
  return name.empty() || name == "??" ? "a kernel" : name;
}

Text format(const char* pattern, ...) {
  Text text;
  va_list values;
  va_start(values, pattern);
  std::vsnprintf(text.chars, sizeof(text.chars), pattern, values);
  va_end(values);
  return text;
}

Text format_index(const char* what, dim3 index) {
  return format("%s (%u, %u, %u)", what, index.x, index.y, index.z);
}

Text format_site(Site site) {
  if (site.file == nullptr) return {};
  const char* slash = std::strrchr(site.file, '/');
  return format("%s:%d", slash == nullptr ? site.file : slash + 1, site.line);
}

}  // namespace cudaemu
