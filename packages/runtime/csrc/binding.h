// Each binding file adds its functions to the addon's exports; src/native.ts declares them.
#pragma once

#include <napi.h>

namespace ww {

void export_storages(Napi::Env env, Napi::Object exports);
void export_memory(Napi::Env env, Napi::Object exports);
void export_copies(Napi::Env env, Napi::Object exports);
void export_files(Napi::Env env, Napi::Object exports);
void export_streams(Napi::Env env, Napi::Object exports);
void export_events(Napi::Env env, Napi::Object exports);
void export_graphs(Napi::Env env, Napi::Object exports);
void export_process(Napi::Env env, Napi::Object exports);

}  // namespace ww
