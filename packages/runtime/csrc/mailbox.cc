#include "mailbox.h"

#include <chrono>
#include <thread>

#include "completion.h"
#include "environment.h"

namespace ww {
namespace {

void deliver(napi_env env, napi_value, void*, void* data) {
  std::unique_ptr<Job> job(static_cast<Job*>(data));
  if (env == nullptr) return;  // the queue is being emptied because the environment ended
  try {
    Job::arrive(env, std::move(job));
  } catch (const std::exception&) {
    // A worker that is being terminated fails every call: nobody is left to be told.
  }
}

}  // namespace

std::shared_ptr<Mailbox> Mailbox::of(Napi::Env env) { return Environment::of(env).mailbox(); }

std::shared_ptr<Mailbox> Mailbox::open(Napi::Env env) {
  auto mailbox = std::make_shared<Mailbox>();
  mailbox->env_ = env;
  const napi_value name = Napi::String::New(env, "warpwright completion");
  // The hook and the function each keep the mailbox until they have run for the last time.
  auto* kept = new std::shared_ptr<Mailbox>(mailbox);
  const napi_finalize finalize = [](napi_env, void* data, void*) {
    auto* self = static_cast<std::shared_ptr<Mailbox>*>(data);
    (*self)->close();
    delete self;
  };
  if (napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, kept, finalize, nullptr,
                                      deliver, &mailbox->function_) != napi_ok) {
    delete kept;
    throw Napi::Error::New(env);
  }
  napi_unref_threadsafe_function(env, mailbox->function_);
  // Added after the function's own hook, so that it runs before it.
  env.AddCleanupHook([mailbox] {
    mailbox->close();
    napi_release_threadsafe_function(mailbox->function_, napi_tsfn_abort);
    // The completion thread lets go of this environment's jobs. Bounded, in case the driver hangs.
    wake_completion();
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (mailbox->watched > 0 && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  });
  return mailbox;
}

void Mailbox::add_pending() {
  if (pending_++ == 0) napi_ref_threadsafe_function(env_, function_);
}

void Mailbox::remove_pending() {
  if (--pending_ == 0) napi_unref_threadsafe_function(env_, function_);
}

bool Mailbox::post(Job* job) {
  const std::lock_guard lock(mutex_);
  return !closed_ &&
         napi_call_threadsafe_function(function_, job, napi_tsfn_nonblocking) == napi_ok;
}

void Mailbox::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

}  // namespace ww
