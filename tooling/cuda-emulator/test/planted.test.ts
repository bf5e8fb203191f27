// Every planted fault is found, in the builds that can, and nothing else is. Each case is a process
// of its own, since AddressSanitizer ends it, and says at its end that the emulator works again.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

type Build = "plain" | "check" | "asan";

const ok = "cudaSuccess: no error";

/** What the first line matches, by build; where a build is missing, it notices nothing. */
type Expected = Partial<Record<Build, RegExp>>;

const everywhere = (pattern: RegExp): Expected => ({
  plain: pattern,
  check: pattern,
  asan: pattern,
});
const segv = /AddressSanitizer: SEGV/;
const poisoned = /AddressSanitizer: use-after-poison/;
const race = (access: string, by: string) =>
  new RegExp(`shared memory race: ${access} of \\w+ .* ${by}.*, shared\\.cu:\\d+$`);

const faults: Record<string, Expected> = {
  one_past_the_end: {
    plain: /cudaErrorIllegalAddress: access of byte 4096 of an allocation of 4096 bytes/,
    check: /cudaErrorIllegalAddress: read of 4 bytes out of bounds: byte 4096 .*, memory\.cu:13$/,
    asan: segv,
  },
  one_before_the_begin: {
    plain: /access of byte -4 of an allocation/,
    check: /write of 4 bytes out of bounds: byte -4 of an allocation .*, memory\.cu:23$/,
    asan: segv,
  },
  use_after_free: everywhere(/stream order: add_kernel uses memory that has been freed/),
  freed_pointer_in_memory: {
    plain: /access of byte 0 of a freed allocation/,
    check: /read of 4 bytes after it was freed: byte 0 .*, memory\.cu:38$/,
    asan: segv,
  },
  host_pointer: { check: /read of 4 bytes of host memory, .*, memory\.cu:13$/ },
  other_device: { check: /from another device, without peer access: .* of cuda:1 in add_kernel/ },
  misaligned_vectors: {
    plain: /cudaErrorMisalignedAddress/,
    check: /cudaErrorMisalignedAddress: misaligned access of .*float4.*, memory\.cu:81$/,
    asan: /cudaErrorMisalignedAddress: misaligned access of .*float4.*, memory\.cu:81$/,
  },
  offset_overflow: {
    check: /integer overflow of a multiplication in offset_kernel, .*, memory\.cu:92$/,
    asan: /integer overflow of a multiplication in offset_kernel/,
  },
  local_array_index: {
    check: /array index out of bounds in local_kernel, .*thread \(7, 0, 0\), memory\.cu:103$/,
    asan: /array index out of bounds in local_kernel/,
  },
  local_array_by_pointer: { asan: /AddressSanitizer: stack-buffer-overflow/ },
  stack_overflow: {
    plain: /stack overflow in deep_kernel/,
    check: /stack overflow in deep_kernel/,
    asan: /AddressSanitizer: stack-overflow/,
  },
  grid_too_large: everywhere(/^cudaErrorInvalidConfiguration/),

  static_shared_past_the_end: {
    check: /read of 4 bytes out of bounds: values \+ 512 bytes .*, shared\.cu:21$/,
    asan: poisoned,
  },
  dynamic_shared_past_the_end: {
    check: /write of 4 bytes out of bounds: dynamic shared memory \+ 600 bytes/,
    asan: poisoned,
  },
  missing_barrier: { check: race("write", "read by thread") },
  missing_second_barrier: { check: race("write", "read by thread") },
  missing_syncwarp: { check: race("write", "read by thread") },
  increment_race: { check: race("read", "written by thread") },
  atomic_and_plain: { check: race("read", "written by thread") },
  uninitialised_shared: { check: /uninitialised read of values \+ 508 bytes/ },
  pipeline_without_empty_barrier: { check: race("read", "written by thread") },
  missing_cluster_sync: { check: race("read", "written by thread \\(0, 0, 0\\) of block") },
  missing_last_cluster_sync: {
    check: /exit of a block whose total block \(\d, 0, 0\) of the cluster may still read/,
  },

  divergent_barrier: everywhere(/divergent barrier: 32 threads wait and 32 have exited/),
  two_barriers: everywhere(/divergent barrier: others wait at another one, collective\.cu:18/),
  exited_lane: everywhere(/inactive lane: the thread exits while others wait for it/),
  lane_outside_its_mask: everywhere(
    /inactive lane: lane 16 calls __shfl_xor_sync with mask 0xffff/,
  ),
  source_outside_the_mask: everywhere(/inactive lane: lane 0 reads lane 20/),
  two_collectives: everywhere(/divergent collective: .* wait in __shfl_xor_sync/),

  used_before_allocated: everywhere(/stream order: fill_kernel does not wait for another stream/),
  freed_while_used: everywhere(/stream order: /),

  unjoined_fork: everywhere(/^cudaErrorStreamCaptureUnjoined/),
  work_after_the_join: everywhere(/^cudaErrorStreamCaptureUnjoined/),
  wait_for_ordinary_work: everywhere(/^cudaErrorStreamCaptureIsolation/),
  synchronise_in_capture: everywhere(/^cudaErrorStreamCaptureUnsupported/),
  query_in_capture: everywhere(/^cudaErrorStreamCaptureUnsupported/),
  device_synchronise_in_capture: everywhere(/^cudaErrorStreamCaptureUnsupported/),
  query_captured_event: everywhere(/^cudaErrorCapturedEvent/),
  elapsed_of_captured_event: everywhere(/^cudaErrorCapturedEvent/),
  event_of_ended_capture: everywhere(/^cudaErrorInvalidValue/),
  default_stream_in_capture: everywhere(/^cudaErrorStreamCaptureImplicit/),
  capture_within_capture: everywhere(/^cudaErrorIllegalState/),
  end_without_begin: everywhere(/^cudaErrorIllegalState/),
  end_in_forked_stream: everywhere(/^cudaErrorStreamCaptureUnmatched/),
  two_captures_merged: everywhere(/^cudaErrorStreamCaptureMerge/),
  graph_launched_in_capture: everywhere(/^cudaErrorStreamCaptureUnsupported/),
  allocation_in_capture: everywhere(
    /^cudaErrorStreamCaptureUnsupported: cudaMallocAsync on a capturing stream: the emulator/,
  ),
  free_in_capture: everywhere(/cudaFreeAsync on a capturing stream: the emulator refuses/),
  global_capture: everywhere(/cudaStreamCaptureModeGlobal is not emulated/),

  graph_past_the_end: {
    plain: /access of byte 4096 of an allocation of 4096 bytes/,
    check: /out of bounds: byte 4096 of .* in step_kernel, .*, graph\.cu:18$/,
    asan: segv,
  },
  graph_after_free: everywhere(/stream order: step_kernel uses memory that has been freed/),
  graph_copy_after_free: everywhere(/stream order: a copy uses memory that has been freed/),
  graph_after_free_in_memory: {
    plain: /access of byte 0 of a freed allocation/,
    check: /read of 4 bytes after it was freed: byte 0 .*, graph\.cu:21$/,
    asan: segv,
  },
  graph_after_pinned_free: everywhere(/uses memory that has been freed .*of pinned host memory/),
  graph_before_allocation: everywhere(/stream order: step_kernel does not wait for another stream/),
  graph_freed_while_used: everywhere(/stream order: /),

  elapsed_of_unrecorded_event: everywhere(/^cudaErrorInvalidResourceHandle/),
  elapsed_of_untimed_event: everywhere(/^cudaErrorInvalidResourceHandle/),

  copy_from_misaligned_memory: everywhere(
    /cudaErrorMisalignedAddress: misaligned cp\.async: from \w+04, alignment 16 .*, ptx\.cu:25$/,
  ),
  copy_to_misaligned_memory: everywhere(
    /cudaErrorMisalignedAddress: misaligned cp\.async: row \+ 8 bytes .*, ptx\.cu:25$/,
  ),
  copy_from_past_the_end: everywhere(
    /read of 16 bytes out of bounds: byte 4096 of .* 4096 bytes .*thread \(31, 0, 0\), ptx\.cu:25$/,
  ),
  copy_to_past_the_end: everywhere(
    /asynchronous copy of 16 bytes out of bounds: row \+ 512 bytes .*, ptx\.cu:25$/,
  ),
  copy_of_too_many_bytes: everywhere(/cp\.async of 16 bytes, of which 20 come from memory/),
  overlapping_copies: { check: /race: asynchronous copy of row \+ 4 bytes .*, written by thread/ },
  copy_from_shared_memory: everywhere(/cp\.async: \w+ is not global memory in wrong_way_kernel/),
  copy_to_global_memory: everywhere(/cp\.async: \w+ is not in the block's shared memory/),
  ldmatrix_with_inactive_lane: everywhere(
    /inactive lane: mask 0xffffffff of ldmatrix names lane 31, .*, ptx\.cu:84$/,
  ),
  ldmatrix_uninitialised: {
    check: /uninitialised read of rows \+ 144 bytes .*thread \(9, 0, 0\), ptx\.cu:84$/,
  },
  ldmatrix_misaligned_row: everywhere(
    /misaligned ldmatrix: rows \+ 56 bytes .*thread \(3, 0, 0\), ptx\.cu:84$/,
  ),
  ldmatrix_past_the_end: everywhere(/read of 16 bytes out of bounds: rows \+ 512 bytes/),
  ldmatrix_in_two_places: everywhere(
    /divergent collective: lane 0 waits in another ldmatrix, ptx\.cu:84 .*, ptx\.cu:82$/,
  ),
  ldmatrix_of_two_forms: everywhere(
    /divergent collective: lane 16 waits in ldmatrix of another form/,
  ),
  mma_with_inactive_lane: everywhere(
    /inactive lane: the thread exits while others wait .*thread \(7, 0, 0\), ptx\.cu:115$/,
  ),
  mma_in_part_of_a_warp: everywhere(
    /inactive lane: mma\.sync takes all 32 lanes, and this warp has 16/,
  ),

  missing_copy_wait: {
    check: /read of stages .* while a cp\.async of thread \(127, 0, 0\) writes it.*, tile\.cu:59$/,
  },
  copy_wait_of_one_group_less: {
    check: /read of stages .* while a cp\.async of thread \(127, 0, 0\) writes it.*, tile\.cu:59$/,
  },
  missing_barrier_after_copy_wait: { check: /uninitialised read of stages .*, tile\.cu:59$/ },
  missing_barrier_before_next_copy: {
    check: /race: asynchronous copy of stages .*, read by thread .*, tile\.cu:50$/,
  },
};

function run(build: Build, args: string[], seed = "0") {
  const program = fileURLToPath(new URL(`../prebuilds-emulated/${build}/planted`, import.meta.url));
  const env = { ...process.env, WARPWRIGHT_EMULATOR_SEED: seed };
  return spawnSync(program, args, { encoding: "utf8", env });
}

function firstLine(build: Build, name: string): string {
  const { stdout, stderr, status } = run(build, [name]);
  const ended = stderr.match(/^.*ERROR: AddressSanitizer.*$/m);
  if (ended) return ended[0];
  const [line, afterwards] = stdout.split("\n");
  expect([afterwards, status]).toEqual(["afterwards: cudaSuccess", 0]);
  return line!;
}

describe.each(["plain", "check", "asan"] as const)("planted faults in the %s build", (build) => {
  const names = run(build, []).stdout.trim().split("\n");
  const controls = names.filter((name) => !(name in faults));

  test("the table and the program have the same faults", () => {
    expect(names).toEqual(expect.arrayContaining(Object.keys(faults)));
  });

  test.each(Object.entries(faults))("%s", (name, expected) => {
    const pattern = expected[build];
    // A wrong result nobody notices may be anything, but not a false report.
    if (pattern === undefined) expect(firstLine(build, name)).toBe(ok);
    else expect(firstLine(build, name)).toMatch(pattern);
  });

  test.each(controls)("%s raises no alarm, in any order of threads", (name) => {
    for (const seed of ["0", "1", "2", "3"]) {
      const { stdout, stderr, status } = run(build, [name], seed);
      expect([stdout, stderr, status]).toEqual([`${ok}\nafterwards: cudaSuccess\n`, "", 0]);
    }
  });
});
