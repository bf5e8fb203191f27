# How warpwright_add_kernel builds with WARPWRIGHT_CUDA=emulated: the .cu files are compiled by the
# C++ compiler against the stand-in headers, and run in the emulator's library.
#
#   WARPWRIGHT_EMULATOR_DIR     this package
#   WARPWRIGHT_EMULATOR_LIBRARY its library, by default as built in build/
#   WARPWRIGHT_EMULATOR_CHECK   plain, check (the emulator's own checks) or asan (AddressSanitizer)
#   WARPWRIGHT_EMULATOR_ARCH    __CUDA_ARCH__ of the device code, 900 by default
include_guard(GLOBAL)

set(WARPWRIGHT_EMULATOR_CHECK "plain" CACHE STRING "plain, check or asan")
set(WARPWRIGHT_EMULATOR_LIBRARY "${WARPWRIGHT_EMULATOR_DIR}/build/libwarpwright-cudaemu.so"
  CACHE FILEPATH "libwarpwright-cudaemu.so")
set(WARPWRIGHT_EMULATOR_ARCH "900" CACHE STRING "__CUDA_ARCH__")
if(NOT WARPWRIGHT_EMULATOR_CHECK MATCHES "^(plain|check|asan)$")
  message(FATAL_ERROR "WARPWRIGHT_EMULATOR_CHECK: expected plain, check or asan, "
    "got ${WARPWRIGHT_EMULATOR_CHECK}")
endif()

# -ffp-contract and -fexpensive-optimizations: nvcc contracts a * b + c by default, and so do these
# builds, all alike, or their last bits would differ.
set(_warpwright_device_options
  -D__CUDACC__ -D__CUDA_ARCH__=${WARPWRIGHT_EMULATOR_ARCH} -mfma -mf16c -ffp-contract=fast
  -fexpensive-optimizations -Wno-unknown-pragmas -Wno-sign-compare)
set(_warpwright_undefined -fsanitize=undefined -fno-sanitize=vptr)
set(_warpwright_check_options -DCUDAEMU_CHECKED ${_warpwright_undefined}
  -fsanitize=thread --param=tsan-instrument-func-entry-exit=0)
set(_warpwright_asan_options -fno-omit-frame-pointer -fsanitize=address
  ${_warpwright_undefined})

# Reports need the lines; a Debug build is for gdb, and keeps its own options.
function(_warpwright_optimize variable level)
  set(${variable} "$<$<NOT:$<CONFIG:Debug>>:${level};-g1>" PARENT_SCOPE)
endfunction()

# The .cu files come first among the target's sources: of an inline function that host files have
# too, the linker keeps the first copy, which has to be the instrumented one.
function(warpwright_emulate name)
  set(library "${WARPWRIGHT_EMULATOR_LIBRARY}")
  if(NOT EXISTS "${library}")
    message(FATAL_ERROR "${library} is missing: build ${WARPWRIGHT_EMULATOR_DIR} first")
  endif()
  set(device_options ${_warpwright_device_options})
  _warpwright_optimize(fast -O2)
  _warpwright_optimize(instrumented -O1)
  if(WARPWRIGHT_EMULATOR_CHECK STREQUAL "check")
    # Compiled for the thread sanitizer but not linked with it: the library answers its calls. Host
    # code, which is not instrumented, is left at the same level, since it takes long to optimize.
    target_compile_options(${name} PRIVATE ${instrumented})
    list(APPEND device_options ${_warpwright_check_options} ${instrumented})
  elseif(WARPWRIGHT_EMULATOR_CHECK STREQUAL "asan")
    target_compile_options(${name} PRIVATE ${_warpwright_asan_options} ${instrumented})
    target_link_options(${name} PRIVATE -fsanitize=address)
  else()
    list(APPEND device_options ${fast})
  endif()
  set_source_files_properties(${ARGN} PROPERTIES
    LANGUAGE CXX COMPILE_OPTIONS "${device_options}"
    OBJECT_DEPENDS "${WARPWRIGHT_EMULATOR_DIR}/scripts/rewrite.mjs")
  set_target_properties(${name} PROPERTIES
    CXX_COMPILER_LAUNCHER "node;${WARPWRIGHT_EMULATOR_DIR}/scripts/compile.mjs"
    # Without the folder that the library was linked from.
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
  # BEFORE, so that the emulated forms of the PTX wrappers are found before the headers' own. Not as
  # system headers: their macros would put line markers into the middle of declarations.
  target_include_directories(${name} BEFORE PRIVATE "${WARPWRIGHT_EMULATOR_DIR}/include")
  target_link_libraries(${name} PRIVATE "${library}")
  add_custom_command(TARGET ${name} POST_BUILD COMMAND "${CMAKE_COMMAND}" -E copy_if_different
    "${library}" "$<TARGET_FILE_DIR:${name}>")
endfunction()
