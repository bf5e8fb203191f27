// The JavaScript value that memory of another library belongs to; it is kept alive while tensors
// use the memory.
#pragma once

#include <napi.h>

#include <memory>
#include <thread>

#include "cuda_backend.h"
#include "mailbox.h"

namespace ww {

class MemoryOwner {
 public:
  // JavaScript thread.
  MemoryOwner(Napi::Env env, const Napi::Value& value);
  MemoryOwner(const MemoryOwner&) = delete;
  MemoryOwner& operator=(const MemoryOwner&) = delete;

  // Any thread: the value may be collected from now on, or once the event has happened, which is
  // destroyed then.
  static void let_go(std::unique_ptr<MemoryOwner> owner);
  static void let_go_after(std::unique_ptr<MemoryOwner> owner, int device, cuda::Event event);

 private:
  friend class OwnerJob;
  void forget();

  napi_env env_;
  napi_ref value_ = nullptr;  // null for memory that nobody frees
  std::shared_ptr<Mailbox> mailbox_;
  std::thread::id thread_ = std::this_thread::get_id();
};

}  // namespace ww
