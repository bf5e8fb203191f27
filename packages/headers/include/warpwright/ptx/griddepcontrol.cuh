// Kernels of a stream that overlap: the next one's blocks start while this one's last are running
// and wait by themselves (PTX ISA, "griddepcontrol", of sm_90; elsewhere kernels take turns).
#pragma once

namespace ww {

// Returns when the kernels before this one have ended and what they wrote can be seen. All threads
// of a kernel whose LaunchConfig says `overlaps` call it before they touch any memory.
__device__ inline void griddepcontrol_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Lets the next kernel's blocks start where there is room, once every block of this kernel has
// called it or ended. Best called when the block's loads are under way.
__device__ inline void griddepcontrol_launch_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace ww
