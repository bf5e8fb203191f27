#include "tensors.h"

#include "capture.h"
#include "environment.h"
#include "memory_owner.h"
#include "tagged_object.h"

namespace ww {
namespace {

// V8 sees neither host nor device memory of tensors; without these numbers it would collect too
// late. Counted once for all handles of a storage, and not for memory of another library, which a
// collection would not free.
void adjust_external(Napi::Env env, const Storage& storage, int sign) {
  if (storage.owner != nullptr) return;
  int64_t total = 0;
  napi_adjust_external_memory(env, sign * static_cast<int64_t>(storage.bytes), &total);
}

void finalize(napi_env env, void* data, void*) {
  auto* tensor = static_cast<OwnTensor*>(data);
  drop_tensor(env, tensor->handle);
  if (tensor->reference != nullptr) napi_delete_reference(env, tensor->reference);
  tensor->environment->remove(tensor);
  delete tensor;
}

}  // namespace

Napi::Value new_tensor(Napi::Env env, Storage* storage) {
  auto* tensor = new OwnTensor{
      .handle =
          {
              .magic = kHandleMagic,
              .major = kHandleMajor,
              .minor = kHandleMinor,
              .device = storage->device,
              .reserved = 0,
              .data = storage->data,
              .bytes = storage->bytes,
              .storage = storage,
              .stream = storage->stream(),
              .api = &kRuntimeApi,
          },
      .environment = &Environment::of(env),
  };
  if (storage->handles++ == 0) adjust_external(env, *storage, 1);
  tensor->environment->add(tensor);
  return new_tagged(env, tensor, finalize, kTensorTag, &tensor->reference);
}

void drop_tensor(Napi::Env env, TensorHandle& handle) {
  Storage* storage = handle.storage;
  if (storage == nullptr) return;
  handle.storage = nullptr;
  handle.data = nullptr;
  const bool last = --storage->handles == 0;
  if (last) adjust_external(env, *storage, -1);
  release_storage(storage);
  if (!last) return;
  if (const auto& capture = Capture::current()) capture->recycle(storage);
}

}  // namespace ww
