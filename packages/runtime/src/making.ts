import type { DType } from "./dtypes.js";
import type { Block, BlockOf, StorageToken } from "./internals.js";
import type { Tensor } from "./tensor.js";

type Construct = (block: Block, storage: StorageToken | undefined) => Tensor;

let construct: Construct;

/** Called once by tensor.ts, whose constructor nobody else can reach. */
export function defineConstruct(fn: Construct): void {
  construct = fn;
}

/** A new tensor that owns the block's handle; a view passes the token of its storage. */
export function makeTensor<D extends DType>(
  block: BlockOf<D>,
  storage?: StorageToken | undefined,
): Tensor<D> {
  return construct(block, storage) as unknown as Tensor<D>;
}
