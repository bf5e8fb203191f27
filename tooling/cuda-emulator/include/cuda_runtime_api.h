// Stand-in for the CUDA toolkit's header: the part of the runtime's API that this repository calls.
// Values are the toolkit's. A name that is missing here has not been emulated yet.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_emulator/vector_types.h"

#define CUDART_VERSION 13000
#define CUDART_CB
#define CUDAEMU_API extern "C" __attribute__((visibility("default")))

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInsufficientDriver = 35,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorDeviceUninitialized = 201,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorECCUncorrectable = 214,
  cudaErrorNvlinkUncorrectable = 220,
  cudaErrorContained = 226,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorIllegalState = 401,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchTimeout = 702,
  cudaErrorContextIsDestroyed = 709,
  cudaErrorAssert = 710,
  cudaErrorHardwareStackError = 714,
  cudaErrorIllegalInstruction = 715,
  cudaErrorMisalignedAddress = 716,
  cudaErrorInvalidAddressSpace = 717,
  cudaErrorInvalidPc = 718,
  cudaErrorLaunchFailure = 719,
  cudaErrorTensorMemoryLeak = 721,
  cudaErrorNotSupported = 801,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901,
  cudaErrorStreamCaptureMerge = 902,
  cudaErrorStreamCaptureUnmatched = 903,
  cudaErrorStreamCaptureUnjoined = 904,
  cudaErrorStreamCaptureIsolation = 905,
  cudaErrorStreamCaptureImplicit = 906,
  cudaErrorCapturedEvent = 907,
  cudaErrorExternalDevice = 911,
  cudaErrorInvalidClusterSize = 912,
  cudaErrorUnknown = 999,
};

struct CUstream_st;
struct CUevent_st;
struct CUmemPoolHandle_st;
struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;
using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;
using cudaMemPool_t = CUmemPoolHandle_st*;
using cudaGraph_t = CUgraph_st*;
using cudaGraphNode_t = CUgraphNode_st*;
using cudaGraphExec_t = CUgraphExec_st*;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4,
};

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100,
};

struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  size_t sharedMemPerBlockOptin;
  int warpSize;
  int maxThreadsPerBlock;
  int major;
  int minor;
  int multiProcessorCount;
};

struct cudaFuncAttributes {
  int maxThreadsPerBlock;
  int ptxVersion;
  int binaryVersion;
};

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 13,
};

enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
};

union cudaLaunchAttributeValue {
  char pad[64];
  struct {
    unsigned x, y, z;
  } clusterDim;
  int programmaticStreamSerializationAllowed;  // a stream's kernels follow each other in any case
};

struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};

struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

enum cudaMemPoolAttr {
  cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrReservedMemHigh = 6,
  cudaMemPoolAttrUsedMemCurrent = 7,
  cudaMemPoolAttrUsedMemHigh = 8,
};
enum cudaMemLocationType { cudaMemLocationTypeDevice = 1 };
enum cudaMemAccessFlags {
  cudaMemAccessFlagsProtNone = 0,
  cudaMemAccessFlagsProtRead = 1,
  cudaMemAccessFlagsProtReadWrite = 3,
};
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};
struct cudaMemAccessDesc {
  cudaMemLocation location;
  cudaMemAccessFlags flags;
};

enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3,
};

struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
  long reserved[8];
};

enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone = 0,
  cudaStreamCaptureStatusActive = 1,
  cudaStreamCaptureStatusInvalidated = 2,
};

enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2,
};

struct cudaGraphEdgeData {
  unsigned char from_port;
  unsigned char to_port;
  unsigned char type;
  unsigned char reserved[5];
};

enum cudaDriverEntryPointQueryResult {
  cudaDriverEntryPointSuccess = 0,
  cudaDriverEntryPointSymbolNotFound = 1,
};

constexpr unsigned cudaStreamDefault = 0;
constexpr unsigned cudaStreamNonBlocking = 1;
constexpr unsigned cudaEventDefault = 0;
constexpr unsigned cudaEventDisableTiming = 2;
constexpr unsigned cudaEventWaitDefault = 0;
constexpr unsigned cudaHostAllocDefault = 0;
constexpr unsigned cudaHostAllocPortable = 1;
constexpr unsigned long long cudaEnableDefault = 0;

CUDAEMU_API const char* cudaGetErrorName(cudaError_t status);
// For a fault, the emulator's report.
CUDAEMU_API const char* cudaGetErrorString(cudaError_t status);
CUDAEMU_API cudaError_t cudaGetLastError();
CUDAEMU_API cudaError_t cudaPeekAtLastError();

CUDAEMU_API cudaError_t cudaDriverGetVersion(int* version);
CUDAEMU_API cudaError_t cudaRuntimeGetVersion(int* version);
CUDAEMU_API cudaError_t cudaGetDeviceCount(int* count);
CUDAEMU_API cudaError_t cudaGetDevice(int* device);
CUDAEMU_API cudaError_t cudaSetDevice(int device);
CUDAEMU_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
CUDAEMU_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
CUDAEMU_API cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
CUDAEMU_API cudaError_t cudaDeviceSynchronize();
CUDAEMU_API cudaError_t cudaGetDriverEntryPointByVersion(
    const char* name, void** address, unsigned version, unsigned long long flags,
    cudaDriverEntryPointQueryResult* found = nullptr);

CUDAEMU_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
CUDAEMU_API cudaError_t cudaStreamCreate(cudaStream_t* stream);
CUDAEMU_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags,
                                                     int priority);
CUDAEMU_API cudaError_t cudaStreamDestroy(cudaStream_t stream);
CUDAEMU_API cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device);
CUDAEMU_API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
CUDAEMU_API cudaError_t cudaStreamQuery(cudaStream_t stream);
CUDAEMU_API cudaError_t cudaStreamSynchronize(cudaStream_t stream);
CUDAEMU_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                            unsigned flags = 0);

// In relaxed mode only; another is a fault.
CUDAEMU_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
CUDAEMU_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
CUDAEMU_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
CUDAEMU_API cudaError_t cudaStreamGetCaptureInfo(
    cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id = nullptr,
    cudaGraph_t* graph = nullptr, const cudaGraphNode_t** dependencies = nullptr,
    const cudaGraphEdgeData** edges = nullptr, size_t* count = nullptr);

CUDAEMU_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
CUDAEMU_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                             unsigned long long flags = 0);
CUDAEMU_API cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
CUDAEMU_API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
CUDAEMU_API cudaError_t cudaGraphDestroy(cudaGraph_t graph);
CUDAEMU_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);

CUDAEMU_API cudaError_t cudaEventCreate(cudaEvent_t* event);
CUDAEMU_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
CUDAEMU_API cudaError_t cudaEventDestroy(cudaEvent_t event);
CUDAEMU_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
CUDAEMU_API cudaError_t cudaEventQuery(cudaEvent_t event);
CUDAEMU_API cudaError_t cudaEventSynchronize(cudaEvent_t event);
CUDAEMU_API cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end);

CUDAEMU_API cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
CUDAEMU_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                 const void* data);
CUDAEMU_API cudaError_t cudaMallocAsync(void** data, size_t bytes, cudaStream_t stream);
CUDAEMU_API cudaError_t cudaFreeAsync(void* data, cudaStream_t stream);
CUDAEMU_API cudaError_t cudaHostAlloc(void** data, size_t bytes, unsigned flags);
CUDAEMU_API cudaError_t cudaFreeHost(void* data);
CUDAEMU_API cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes,
                                        cudaStream_t stream = nullptr);
CUDAEMU_API cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t bytes,
                                        cudaMemcpyKind kind, cudaStream_t stream = nullptr);
CUDAEMU_API cudaError_t cudaMemcpyPeerAsync(void* dst, int dst_device, const void* src,
                                            int src_device, size_t bytes,
                                            cudaStream_t stream = nullptr);
CUDAEMU_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
CUDAEMU_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                                void* value);
CUDAEMU_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                                void* value);
CUDAEMU_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes);
CUDAEMU_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access,
                                             size_t count);

CUDAEMU_API cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute,
                                             int value);
