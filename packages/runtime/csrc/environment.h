// What belongs to one JavaScript environment: the main thread's or a worker's.
#pragma once

#include <napi.h>

#include <memory>
#include <set>

#include "mailbox.h"
#include "warpwright/tensor_handle.h"

namespace ww {

class Environment;

// A tensor handle of this runtime with what its environment keeps of it.
struct OwnTensor {
  TensorHandle handle;  // first: what addons unwrap
  Environment* environment;
  napi_ref reference = nullptr;  // weak
  OwnTensor* previous = nullptr;
  OwnTensor* next = nullptr;
};

class Environment {
 public:
  static Environment& of(Napi::Env env);

  const std::shared_ptr<Mailbox>& mailbox() const { return mailbox_; }

  // The list of handles that JavaScript has.
  void add(OwnTensor* tensor);
  void remove(OwnTensor* tensor);

  // Frees the memory of tensors that have been collected. Node-API runs their finalizers only when
  // the event loop turns, which a synchronous loop never lets it.
  void release_collected(Napi::Env env);

  // Memory of one of this environment's values is used on the device.
  void note_wrapped(int device) { wrapped_on_.insert(device); }

  // Counts memory on its way to a new tensor, and releases what was collected now and then.
  void note_allocation(Napi::Env env, uint64_t bytes);

 private:
  static void end(Napi::Env env, Environment* environment);
  explicit Environment(Napi::Env env);
  void prepare_end();

  std::shared_ptr<Mailbox> mailbox_;
  OwnTensor* first_ = nullptr;
  std::set<int> wrapped_on_;
  uint64_t allocated_ = 0;  // bytes since release_collected last ran
  bool ending_ = false;     // the last finalizer of a tensor deletes this
};

}  // namespace ww
