// JavaScript objects around native ones, told apart by a Node-API type tag.
#pragma once

#include <napi.h>

#include <cstdint>

namespace ww {

// A new object that owns `native`, which `finalize` ends. `reference` receives a weak reference to
// the object, which `finalize` has to delete.
inline Napi::Value new_tagged(Napi::Env env, void* native, napi_finalize finalize,
                              const uint64_t (&tag)[2], napi_ref* reference = nullptr) {
  const Napi::Object object = Napi::Object::New(env);
  if (napi_wrap(env, object, native, finalize, nullptr, reference) != napi_ok) {
    finalize(env, native, nullptr);
    throw Napi::Error::New(env);
  }
  const napi_type_tag type_tag{tag[0], tag[1]};
  if (napi_type_tag_object(env, object, &type_tag) != napi_ok) throw Napi::Error::New(env);
  return object;
}

}  // namespace ww
