import { CudaStream, type Device } from "@warpwright/runtime";

/**
 * Measures calls: runs `enqueue(0)` to `enqueue(calls - 1)` and waits for them.
 *
 * @returns microseconds per call
 */
export type Timer = (
  enqueue: (call: number) => void,
  calls: number,
  device: Device,
) => Promise<number>;

/**
 * The time on the wall from an idle device to an idle device. Many calls share the wait at the end;
 * a call that takes the device less time than its enqueueing is measured as its enqueueing.
 *
 * @example
 * import { zeros } from "@warpwright/runtime";
 * import { wallClockTimer } from "@warpwright/testing";
 *
 * const x = zeros([1024]);
 * console.log(await wallClockTimer(() => void x.fill(1), 100, "cpu")); // microseconds a call
 */
export const wallClockTimer: Timer = async (enqueue, calls, device) => {
  const stream = device === "cpu" ? undefined : CudaStream.default(device);
  await stream?.synchronize();
  const start = process.hrtime.bigint();
  for (let call = 0; call < calls; call++) enqueue(call);
  await stream?.synchronize();
  return Number(process.hrtime.bigint() - start) / 1000 / calls;
};
