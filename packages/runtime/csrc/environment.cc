#include "environment.h"

#include <chrono>
#include <thread>

#include "capture.h"
#include "capture_gate.h"
#include "tensors.h"

namespace ww {
namespace {

// Rare enough that looking through ten thousand live tensors costs little beside the work on as
// much memory, and little beside what a GPU has.
constexpr uint64_t kReleaseEvery = uint64_t{256} << 20;

// Handles of a scope stay alive until it closes.
constexpr int kTensorsPerScope = 256;

// Bounded, since the thread that captures may be waiting for this one to end.
void wait_for_device(int device) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (!unless_capturing([device] { cuda::synchronize_device(device); }) &&
         std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

}  // namespace

// The hook runs before any finalizer.
Environment::Environment(Napi::Env env) : mailbox_(Mailbox::open(env)) {
  env.AddCleanupHook([this] { prepare_end(); });
}

// A worker that is terminated amid a capture never comes to end it. And the owners of wrapped
// memory go with the environment, in any order: they may free the memory that work still uses.
void Environment::prepare_end() {
  if (Capture::current() != nullptr) Capture::abandon();
  for (const int device : wrapped_on_) wait_for_device(device);
}

Environment& Environment::of(Napi::Env env) {
  auto* environment = env.GetInstanceData<Environment>();
  if (environment == nullptr) {
    environment = new Environment(env);
    env.SetInstanceData<Environment, end>(environment);
  }
  return *environment;
}

// Finalizers of tensors may run later than this.
void Environment::end(Napi::Env, Environment* environment) {
  environment->ending_ = true;
  if (environment->first_ == nullptr) delete environment;
}

void Environment::add(OwnTensor* tensor) {
  tensor->next = first_;
  if (first_ != nullptr) first_->previous = tensor;
  first_ = tensor;
}

void Environment::remove(OwnTensor* tensor) {
  if (tensor->previous != nullptr) tensor->previous->next = tensor->next;
  if (tensor->next != nullptr) tensor->next->previous = tensor->previous;
  if (first_ == tensor) first_ = tensor->next;
  if (ending_ && first_ == nullptr) delete this;
}

void Environment::release_collected(Napi::Env env) {
  allocated_ = 0;
  OwnTensor* tensor = first_;
  while (tensor != nullptr) {
    const Napi::HandleScope scope(env);
    for (int i = 0; i < kTensorsPerScope && tensor != nullptr; ++i, tensor = tensor->next) {
      napi_value value = nullptr;
      const bool collected =
          napi_get_reference_value(env, tensor->reference, &value) == napi_ok && value == nullptr;
      if (collected) drop_tensor(env, tensor->handle);
    }
  }
}

void Environment::note_allocation(Napi::Env env, uint64_t bytes) {
  allocated_ += bytes;
  if (allocated_ >= kReleaseEvery) release_collected(env);
}

}  // namespace ww
