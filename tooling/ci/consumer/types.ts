import { RMSNorm, rmsnorm } from "@warpwright/rmsnorm";
import { type DType, type Tensor, tensor } from "@warpwright/runtime";

const x: Tensor = tensor([[3, 4]], { dtype: "bfloat16" });
const out: Tensor = rmsnorm(x, null, { eps: 1e-5 });
const dtype: DType = out.dtype;
export const shape: readonly number[] = new RMSNorm(2, { dtype }).forward(out).shape;
