// Stand-in for the CUDA toolkit's header, for .cu files that g++ compiles for the emulator.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "cuda_runtime_api.h"

#if defined(__CUDACC__)
#include "cuda_emulator/atomics.h"
#include "cuda_emulator/builtins.h"
#include "cuda_emulator/launch.h"
#include "cuda_emulator/shared.h"
#include "cuda_emulator/warp.h"
#endif
