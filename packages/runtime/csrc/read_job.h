// Reading device memory into a JavaScript array without waiting for the device.
#pragma once

#include <napi.h>

#include <memory>

#include "cuda_backend.h"
#include "mailbox.h"

namespace ww {

// A promise of `bytes` bytes from `src` in `into`, as they are when `stream` gets there: later work
// on the stream does not change what is read, and the memory may be freed in stream order.
Napi::Value read_async(Napi::Env env, const std::shared_ptr<Mailbox>& mailbox, cuda::Stream stream,
                       const void* src, const Napi::Value& into, size_t bytes);

}  // namespace ww
