// When asynchronous reads let the event loop turn. Node runs the finalizers that free dropped
// tensors only then, and on the CPU a promise resolves without: a loop that awaits results and
// drops tensors would never free one.
import { setImmediate } from "node:timers/promises";

// Worth a turn, which takes a few microseconds: as long as reading this much.
const dueBytes = 64 * 1024;

let bytes = 0;

/** Counts bytes that have been allocated or read. */
export function noteBytes(count: number): void {
  bytes += count;
}

/** Whether enough has been counted since the last turn; the caller then awaits the next. */
export function isTurnDue(): boolean {
  return bytes >= dueBytes;
}

/** Turns the event loop once. */
export function turn(): Promise<void> {
  bytes = 0;
  return setImmediate();
}
