# Builds a Node-API addon with a CPU backend and, where there is a CUDA toolkit, a CUDA backend:
#
#   warpwright_add_kernel(NAME rmsnorm
#     SOURCES csrc/binding.cc csrc/rmsnorm_cpu.cc   # always
#     CUDA_SOURCES csrc/rmsnorm.cu                  # with a toolkit
#     NO_CUDA_SOURCES ...                           # without one
#     ARCHS 80 90a                                  # default architectures of this kernel
#     CUDA_FLAGS -maxrregcount=128)                 # extra nvcc flags
#
# Cache variables, set by the build script:
#   WARPWRIGHT_CUDA          auto (default: if nvcc is found), on (fail without nvcc), off, or
#                            emulated: CUDA_SOURCES run on the CPU, see emulated.cmake
#   WARPWRIGHT_CUDA_ARCHS    architectures in CMake's notation, or "default"
# What was decided is written to <build>/warpwright-build.json.
include_guard(GLOBAL)

set(WARPWRIGHT_HEADERS_DIR "${CMAKE_CURRENT_LIST_DIR}/..")

# Macros, because enable_language() has to run at directory scope.
macro(warpwright_find_cuda)
  set(WARPWRIGHT_CUDA "auto" CACHE STRING "auto, on, off or emulated")
  set(WARPWRIGHT_CUDA_ARCHS "default" CACHE STRING "CUDA architectures")
  set(WARPWRIGHT_HAS_CUDA OFF)
  set(WARPWRIGHT_EMULATED OFF)
  if(WARPWRIGHT_CUDA STREQUAL "emulated")
    include("${WARPWRIGHT_EMULATOR_DIR}/cmake/emulated.cmake")
    set(WARPWRIGHT_HAS_CUDA ON)
    set(WARPWRIGHT_EMULATED ON)
  elseif(NOT WARPWRIGHT_CUDA STREQUAL "off")
    # check_language(CUDA) would configure a nested project, which takes twice as long.
    find_program(CMAKE_CUDA_COMPILER nvcc
      HINTS ENV CUDACXX ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
    if(CMAKE_CUDA_COMPILER)
      set(CMAKE_CUDA_ARCHITECTURES 80)  # for the compiler probe alone
      enable_language(CUDA)
      # CMake 3.25.1 does not know that nvcc compiles C++20.
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      find_package(CUDAToolkit REQUIRED)
      set(WARPWRIGHT_HAS_CUDA ON)
    elseif(WARPWRIGHT_CUDA STREQUAL "on")
      message(FATAL_ERROR "nvcc was not found, and WARPWRIGHT_CUDA is on")
    else()
      message(STATUS "nvcc not found: the CUDA build is skipped")
      unset(CMAKE_CUDA_COMPILER CACHE)
    endif()
  endif()
endmacro()

# Node-API headers come from npm, found from this package so that no download is ever tried.
function(_warpwright_node_include variable)
  execute_process(
    COMMAND node -p "['node-api-headers', 'node-addon-api']
      .map((name) => require('path').resolve(require(name).include_dir)).join(';')"
    WORKING_DIRECTORY "${WARPWRIGHT_HEADERS_DIR}"
    OUTPUT_VARIABLE dirs OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${variable} "${dirs}" PARENT_SCOPE)
endfunction()

function(_warpwright_record name archs flags)
  set(nvcc "null")
  set(cuda "false")
  if(WARPWRIGHT_HAS_CUDA)
    set(cuda "true")
    if(NOT WARPWRIGHT_EMULATED)
      set(nvcc "\"${CMAKE_CUDA_COMPILER_VERSION}\"")
    endif()
  endif()
  string(REPLACE ";" "\", \"" archs "${archs}")
  string(REPLACE ";" " " flags "${flags}")
  if(archs)
    set(archs "\"${archs}\"")
  endif()
  file(WRITE "${CMAKE_BINARY_DIR}/warpwright-build.json"
    "{\"name\": \"${name}\", \"cuda\": ${cuda}, \"nvcc\": ${nvcc}, \"archs\": [${archs}], "
    "\"cudaFlags\": \"${flags}\", \"cxx\": \"${CMAKE_CXX_COMPILER_VERSION}\"}\n")
endfunction()

function(_warpwright_add_addon)
  set(lists SOURCES CUDA_SOURCES NO_CUDA_SOURCES ARCHS CUDA_FLAGS)
  cmake_parse_arguments(PARSE_ARGV 0 A "" "NAME" "${lists}")
  if(A_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "warpwright_add_kernel: unknown arguments: ${A_UNPARSED_ARGUMENTS}")
  endif()
  set(archs "")
  if(WARPWRIGHT_EMULATED)
    list(PREPEND A_SOURCES ${A_CUDA_SOURCES})
  elseif(WARPWRIGHT_HAS_CUDA)
    set(archs "${WARPWRIGHT_CUDA_ARCHS}")
    if(archs STREQUAL "default")
      set(archs "${A_ARCHS}")
    endif()
    if(NOT archs)
      set(archs 80 90a)
    endif()
    list(APPEND A_SOURCES ${A_CUDA_SOURCES})
  else()
    list(APPEND A_SOURCES ${A_NO_CUDA_SOURCES})
  endif()
  string(REPLACE ";" ", " archs_text "${archs}")
  _warpwright_node_include(node_include)

  # MODULE: it is loaded, never linked against.
  add_library(${A_NAME} MODULE ${A_SOURCES})
  set_target_properties(${A_NAME} PROPERTIES
    PREFIX "" SUFFIX ".node"
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/Release"
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_RUNTIME_LIBRARY Static
    CUDA_ARCHITECTURES "${archs}"
    CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${A_NAME} PRIVATE csrc "${WARPWRIGHT_HEADERS_DIR}/include")
  target_include_directories(${A_NAME} SYSTEM PRIVATE ${node_include})
  target_compile_definitions(${A_NAME} PRIVATE
    NAPI_VERSION=9 NODE_API_NO_EXTERNAL_BUFFERS_ALLOWED
    # Every C++ exception becomes one in JavaScript, except in a worker that is being terminated,
    # where that is impossible and would end the process.
    NAPI_CPP_EXCEPTIONS NODE_ADDON_API_CPP_EXCEPTIONS_ALL NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS
    WARPWRIGHT_WITH_CUDA=$<BOOL:${WARPWRIGHT_HAS_CUDA}> WARPWRIGHT_BUILT_FOR="${archs_text}")
  # The floating-point flags give up errno and trap ordering only, never a result: without them
  # the compiler may not vectorise. OpenMP pragmas reorder the sums that ask for it. Left to itself,
  # GCC takes a sum's FMAs apart again for some processors and in some loops only, and the same
  # terms give other bits.
  target_compile_options(${A_NAME} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -fopenmp-simd -fno-math-errno -fno-trapping-math>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=avoid-fma-max-bits=0>)
  if(WARPWRIGHT_EMULATED)
    warpwright_emulate(${A_NAME} ${A_CUDA_SOURCES})
  elseif(WARPWRIGHT_HAS_CUDA)
    target_compile_options(${A_NAME} PRIVATE
      "$<$<COMPILE_LANGUAGE:CUDA>:-lineinfo;--threads=2;-Xcompiler=-Wall;${A_CUDA_FLAGS}>")
    target_link_libraries(${A_NAME} PRIVATE CUDA::cudart_static)
  endif()
  if(UNIX AND NOT APPLE)
    # Static libstdc++ for old systems; stripped, since nvcc puts a temporary file's name into the
    # symbol table. Hidden visibility leaves out what templates of libstdc++ instantiate here, and
    # symbols of that kind are shared between addons: only the list of exports keeps them in.
    set(exports "${WARPWRIGHT_HEADERS_DIR}/cmake/exports.map")
    set_target_properties(${A_NAME} PROPERTIES LINK_DEPENDS "${exports}")
    target_link_options(${A_NAME} PRIVATE
      -static-libstdc++ "-Wl,--version-script=${exports}" -Wl,--gc-sections
      # Node unloads an addon with the last thread that loaded it, but a thread pool may be inside.
      -Wl,-z,nodelete
      # Not the emulated ones: reports read the lines of the source from them.
      $<$<AND:$<CONFIG:Release>,$<NOT:$<BOOL:${WARPWRIGHT_EMULATED}>>>:-Wl,-s>)
  endif()
  _warpwright_record(${A_NAME} "${archs}" "${A_CUDA_FLAGS}")
endfunction()

macro(warpwright_add_kernel)
  warpwright_find_cuda()
  _warpwright_add_addon(${ARGN})
endmacro()
