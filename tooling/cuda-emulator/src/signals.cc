#include "signals.h"

#include <signal.h>
#include <ucontext.h>

#include "asan.h"
#include "memory.h"
#include "report.h"
#include "run.h"

namespace cudaemu {
namespace {

struct sigaction previous[NSIG];

void chain(int signal, siginfo_t* info, void* context) {
  const struct sigaction& old = previous[signal];
  if (old.sa_flags & SA_SIGINFO) return old.sa_sigaction(signal, info, context);
  if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) return old.sa_handler(signal);
  sigaction(signal, &old, nullptr);  // the instruction runs again, and ends the process
}

// fail() leaves the handler for good, by switching to the scheduler; SA_NODEFER keeps the signal
// from staying blocked.
void handle(int signal, siginfo_t* info, void* context) {
  if (current == nullptr) return chain(signal, info, context);
  const auto* code =
      reinterpret_cast<const char*>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  if (signal == SIGSEGV && is_stack_guard(info->si_addr))
    fail(cudaErrorLaunchFailure, format("stack overflow"), {}, code);
  // A misaligned vector access traps without an address.
  if (info->si_code == SI_KERNEL)
    fail(cudaErrorMisalignedAddress, format("misaligned or wild access"), {}, code);
  fail(cudaErrorIllegalAddress,
       format("access of %s", device_memory().describe(info->si_addr).c_str()), {}, code);
}

}  // namespace

void catch_signals() {
  if (under_asan()) return;
  static const bool installed = [] {
    struct sigaction action{};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (const int signal : {SIGSEGV, SIGBUS}) sigaction(signal, &action, &previous[signal]);
    return true;
  }();
  (void)installed;
  thread_local bool has_stack = false;
  if (has_stack) return;
  has_stack = true;
  stack_t old{};
  sigaltstack(nullptr, &old);
  if ((old.ss_flags & SS_DISABLE) == 0) return;
  constexpr size_t kBytes = 64 << 10;
  stack_t stack{};
  stack.ss_sp = new char[kBytes];  // as long as the thread lives
  stack.ss_size = kBytes;
  sigaltstack(&stack, nullptr);
}

}  // namespace cudaemu
