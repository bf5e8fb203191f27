// What CUDA alone costs the host, beside which bench/host.bench.ts measures calls from JavaScript.
#pragma once

#include "warpwright/cuda_types.h"

namespace ww {

// Microseconds of one of `count` launches of an empty kernel, with the parameters of a usual one.
cudaError_t time_launches(int count, cudaStream_t stream, double* microseconds);

// The same of cudaGraphLaunch, of a graph with `nodes` empty kernels in a row.
cudaError_t time_graph_launches(int nodes, int count, cudaStream_t stream, double* microseconds);

}  // namespace ww
