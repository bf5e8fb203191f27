#include "memory_owner.h"

#include <utility>

#include "completion.h"

namespace ww {

// Brings the owner back to its thread.
class OwnerJob : public Job {
 public:
  OwnerJob(std::unique_ptr<MemoryOwner> owner, int device, cuda::Event event)
      : Job(owner->mailbox_, ""), owner_(std::move(owner)), device_(device), event_(event) {}
  ~OwnerJob() override {
    if (event_ != nullptr) cuda::destroy_event(device_, event_);
  }

  cudaError_t poll(bool& reached) override {
    reached = event_ == nullptr;
    return reached ? cudaSuccess : cuda::query_event(device_, event_, reached);
  }

 protected:
  void finish(Napi::Env) override { owner_->forget(); }

 private:
  std::unique_ptr<MemoryOwner> owner_;
  int device_;
  cuda::Event event_;
};

MemoryOwner::MemoryOwner(Napi::Env env, const Napi::Value& value)
    : env_(env), mailbox_(Mailbox::of(env)) {
  start_completion();  // here, where it may fail
  if (value.IsUndefined() || value.IsNull()) return;
  if (napi_create_reference(env, value, 1, &value_) != napi_ok) throw Napi::Error::New(env);
}

void MemoryOwner::forget() {
  // With the environment, its references have gone.
  if (value_ != nullptr && !mailbox_->closed()) napi_delete_reference(env_, value_);
}

void MemoryOwner::let_go(std::unique_ptr<MemoryOwner> owner) {
  if (owner->thread_ == std::this_thread::get_id()) return owner->forget();
  let_go_after(std::move(owner), 0, nullptr);
}

void MemoryOwner::let_go_after(std::unique_ptr<MemoryOwner> owner, int device, cuda::Event event) {
  Job::watch(std::make_unique<OwnerJob>(std::move(owner), device, event));
}

}  // namespace ww
