// The objects that JavaScript holds a storage by.
#pragma once

#include <napi.h>

#include "storage.h"

namespace ww {

// A new handle; takes over one reference to the storage.
Napi::Value new_tensor(Napi::Env env, Storage* storage);

// Ends a handle's part in its storage. Harmless when repeated.
void drop_tensor(Napi::Env env, TensorHandle& handle);

}  // namespace ww
