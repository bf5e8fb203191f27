// Copies between host and device, beside copies of one pinned buffer in the same run; on the CPU
// beside copies between two tensors.
import { randomBytes } from "node:crypto";
import { CudaStream, type Device, empty, fromBytes, type Tensor, tensor } from "../dist/index.js";
import { deviceOrdinal } from "../dist/kernel/index.js";
import { native } from "../dist/native.js";
import {
  type CopyCase,
  type CopyReport,
  type CopyResult,
  measure,
  report,
  timed,
} from "./measure.js";

const sizes = [1e6, 64e6, 1e9];

// Of a length that no chunk is a multiple of: one in the wrong place shows.
const noise = randomBytes(999_983);

export async function benchCopies(device: Device): Promise<CopyReport> {
  const results: CopyResult[] = [];
  for (const bytes of sizes) {
    const buffers = new Buffers(bytes, device);
    await buffers.verify();
    for (const each of device === "cpu" ? cpuCases(buffers) : gpuCases(buffers, device)) {
      results.push(await measure(each));
    }
    buffers.dispose();
  }
  return report("copies", device, device === "cpu" ? "copyFrom" : "link", results);
}

class Buffers {
  readonly array: Uint8Array;
  readonly into: Uint8Array;
  readonly host: Tensor;
  readonly there: Tensor;

  constructor(bytes: number, device: Device) {
    this.array = new Uint8Array(bytes);
    for (let at = 0; at < bytes; at += noise.length) {
      this.array.set(noise.subarray(0, Math.min(noise.length, bytes - at)), at);
    }
    this.into = new Uint8Array(bytes).fill(1);
    this.host = tensor(this.array);
    this.there = empty([bytes], { dtype: "uint8", device }).fill(1);
  }

  async verify(): Promise<void> {
    this.there.copyFrom(this.host);
    const found = [await this.there.data(), this.there.dataSync(), this.there.to("cpu").dataSync()];
    for (const each of found as Uint8Array[]) {
      if (Buffer.compare(each, this.array) !== 0) throw new Error("the bytes changed on their way");
    }
  }

  dispose(): void {
    for (const each of [this.host, this.there]) each.dispose();
  }
}

function gpuCases({ array, into, host, there }: Buffers, device: Device): CopyCase[] {
  const bytes = array.length;
  const stream = CudaStream.default(device);
  const ordinal = deviceOrdinal(there.device);
  const link = (toDevice: boolean) => () => native().measureLink(ordinal, bytes, toDevice);
  const upload = { bytes, yardstick: link(true) };
  const download = { bytes, yardstick: link(false) };
  return [
    {
      ...upload,
      name: "fromBytes(Uint8Array)",
      run: () => {
        fromBytes(array, { shape: [bytes], dtype: "uint8", device }).dispose();
        return stream.synchronize();
      },
    },
    {
      ...upload,
      name: "copyFrom(CPU tensor)",
      run: () => {
        there.copyFrom(host);
        return stream.synchronize();
      },
    },
    { ...download, name: "await data()", run: () => there.data() },
    { ...download, name: "await read(into)", run: () => there.read(into) },
    { ...download, name: "dataSync()", run: () => there.dataSync() },
    { ...download, name: 'to("cpu")', run: () => there.to("cpu").dispose() },
  ];
}

function cpuCases({ array, into, host, there }: Buffers): CopyCase[] {
  const bytes = array.length;
  const common = { bytes, yardstick: () => timed(() => there.copyFrom(host)) };
  const shape = [bytes];
  return [
    {
      ...common,
      name: "fromBytes(Uint8Array)",
      run: () => fromBytes(array, { shape, dtype: "uint8" }).dispose(),
    },
    { ...common, name: "await data()", run: () => there.data() },
    { ...common, name: "await read(into)", run: () => there.read(into) },
    { ...common, name: "dataSync()", run: () => there.dataSync() },
  ];
}
