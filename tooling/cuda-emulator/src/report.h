// Faults, and saying where they happened.
#pragma once

#include <string>

#include "../include/cuda_emulator/device_api.h"

namespace cudaemu {

// The first fault makes every later call fail, on whichever device, until clear_fault(): as CUDA
// has it, where the process has to end.
void set_fault(cudaError_t status, std::string report);
cudaError_t fault_status();
std::string fault_report();

void clear_fault();

// "file.cu:12" or "" of an address in code; the name of the function that begins at an address.
std::string source_line(const void* code);
std::string function_name(const void* code);

// Text on the stack: a fault abandons its fiber's frames, and what they had on the heap would be
// leaked.
struct Text {
  char chars[512];

  const char* c_str() const { return chars; }
};

Text format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));
Text format_index(const char* what, dim3 index);
Text format_site(Site site);

}  // namespace cudaemu
