// Stand-in for the CUDA driver's header. Nothing links the driver: its functions come from
// cudaGetDriverEntryPointByVersion.
#pragma once

#define CUDA_VERSION 13000

struct CUctx_st;
struct CUevent_st;
struct CUstream_st;
using CUcontext = CUctx_st*;
using CUevent = CUevent_st*;
using CUstream = CUstream_st*;

enum CUresult {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
};
