// What the parts of the runtime, and two copies of it in one process, know of each other's objects.
// The symbols are registered ones, so that a kernel reads tensors of whichever copy made them.
import type { DType } from "./dtypes.js";
import type { Handle, StreamHandle } from "./native.js";

/** A tensor's reference to its storage; null once disposed. */
export const HANDLE: unique symbol = Symbol.for("@warpwright/runtime/handle/1") as never;

/** The same object in all views of one storage. */
export const STORAGE: unique symbol = Symbol.for("@warpwright/runtime/storage/1") as never;

/** A stream's handle; null once disposed. */
export const STREAM: unique symbol = Symbol.for("@warpwright/runtime/stream/1") as never;

/** Stands for a storage; only its identity counts. */
export type StorageToken = object;

/** A device by its full name. */
export type DeviceName = "cpu" | `cuda:${number}`;

/** Where the elements of a view are, counted in elements from the storage's first byte. */
export interface Layout {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly offset: number;
}

/** A view with what is needed to reach its memory. */
export interface Block extends Layout {
  readonly handle: Handle;
  readonly dtype: DType;
  readonly device: DeviceName;
}

/** A block whose dtype is known. */
export type BlockOf<D extends DType> = Block & { readonly dtype: D };

/** What brands a tensor or a stream. */
export interface Branded {
  readonly [HANDLE]?: Handle | null;
  readonly [STREAM]?: StreamHandle | null;
}
