import type { DType } from "./dtypes.js";
import type { Block, BlockOf, StorageToken } from "./internals.js";
import type { Tensor } from "./tensor.js";

type Construct = (block: Block, storage: StorageToken | undefined) => Tensor;
type Recognise = (value: object) => boolean;

let construct: Construct;
let recognise: Recognise = () => false;

/** Called once by tensor.ts, whose constructor and private fields nobody else can reach. */
export function defineTensor(making: Construct, recognising: Recognise): void {
  construct = making;
  recognise = recognising;
}

/** A new tensor that owns the block's handle; a view passes the token of its storage. */
export function makeTensor<D extends DType>(
  block: BlockOf<D>,
  storage?: StorageToken | undefined,
): Tensor<D> {
  return construct(block, storage) as unknown as Tensor<D>;
}

/** Whether the object is a tensor that this copy of the runtime made, and no proxy of one. */
export function isOwn(value: object): value is Tensor {
  return recognise(value);
}
