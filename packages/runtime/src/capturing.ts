import { captureError } from "./errors.js";

// Of this JavaScript thread.
let capturing = false;

/** Runs `fn` as the function whose work is captured. */
export function whileCapturing(fn: () => void): void {
  capturing = true;
  try {
    fn();
  } finally {
    capturing = false;
  }
}

/**
 * Refuses, with ERR_CAPTURE, what waits for a device. Native code does so too, but only where it
 * comes to wait: what a call gives to the stream before that would be in the graph.
 */
export function refuseInCapture(op: string): void {
  if (capturing) throw captureError(`${op}: cannot wait for a device during a capture`);
}
