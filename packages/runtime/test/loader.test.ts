import { cpSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectFailure } from "../../../tooling/vitest/failures.js";
import { loadAddon } from "../src/kernel/index.js";
import { type Installed, install, runModule } from "./installed.js";

let whole: Installed;
let bare: Installed;
beforeAll(() => {
  whole = install({ addon: true });
  bare = install({ addon: false });
});
afterAll(() => {
  whole.remove();
  bare.remove();
});

const use = `
  import * as ww from "@warpwright/runtime";
  const report = { names: ww.devices().map((d) => d.device), cuda: ww.isAvailable("cuda") };
  report.explain = ww.explain();
  try { report.item = await ww.ones([1]).item(); }
  catch ({ name, code, message }) { report.error = { name, code, message }; }
  console.log(JSON.stringify(report));
`;

interface Report {
  names: string[];
  cuda: boolean;
  explain: string;
  item?: number;
  error?: { name: string; code: string; message: string };
}

function report(installed: Installed, env: Record<string, string> = {}, before = ""): Report {
  const { stdout, stderr, status } = runModule(installed, before + use, env);
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return JSON.parse(stdout) as Report;
}

const platform = `${process.platform}-${process.arch}`;
const addonPath = (): string => join(whole.package, "prebuilds", platform, "runtime.node");

describe("an installed package", () => {
  test("[ND-18] imports without a word, driver or not", () => {
    const { stdout, stderr } = runModule(bare, 'import "@warpwright/runtime";');
    expect([stdout, stderr]).toEqual(["", ""]);
  });

  test("can be required", () => {
    const source = `
      import { createRequire } from "node:module";
      const ww = createRequire(import.meta.url)("@warpwright/runtime");
      console.log(await ww.ones([2]).tolist());`;
    const { stdout } = runModule(whole, source);
    expect(stdout).toBe("[ 1, 1 ]\n");
  });

  test("works", () => {
    expect(report(whole)).toMatchObject({ item: 1 });
    expect(report(whole).names[0]).toBe("cpu");
  });

  test("[ND-21] without its addon answers what it can, and says what is missing", () => {
    const { names, cuda, explain, error } = report(bare);
    expect({ names, cuda }).toEqual({ names: ["cpu"], cuda: false });
    expect(error).toMatchObject({ name: "Error", code: "ERR_LOAD" });
    expect(error?.message).toMatch(/^runtime: cannot load .*\.node is missing; install /);
    expect(explain).toBe(`CUDA is not available: ${error?.message}`);
  });

  test("[ND-12] on another platform says that it has to be built", () => {
    const before = 'Object.defineProperty(process, "platform", { value: "sunos" });';
    expect(report(whole, {}, before).error).toEqual({
      name: "Error",
      code: "ERR_LOAD",
      message:
        `runtime: @warpwright/runtime has no prebuilt addon for sunos-${process.arch}, only for ` +
        'linux-x64, and needs a source build: run "npx @warpwright/runtime build ' +
        '@warpwright/runtime"',
    });
  });

  test("[ND-12] on another platform takes what was built there", () => {
    const built = join(whole.package, `prebuilds/sunos-${process.arch}`);
    cpSync(dirname(addonPath()), built, { recursive: true });
    const before = 'Object.defineProperty(process, "platform", { value: "sunos" });';
    expect(report(whole, {}, before).item).toBe(1);
  });

  test("takes another addon from the environment", () => {
    expect(report(bare, { WARPWRIGHT_RUNTIME_NATIVE_PATH: addonPath() }).item).toBe(1);
    expect(report(bare, { WARPWRIGHT_RUNTIME_NATIVE_PATH: "" }).error?.code).toBe("ERR_LOAD");
    const { error } = report(whole, { WARPWRIGHT_RUNTIME_NATIVE_PATH: "none.node" });
    expect(error?.message).toMatch(
      /^runtime: cannot load .* WARPWRIGHT_RUNTIME_NATIVE_PATH names: .*none\.node is missing; /,
    );
  });

  test("starts with the threads of the environment", () => {
    const threads = 'import * as t from "@warpwright/runtime"; console.log(t.getNumThreads());';
    expect(runModule(whole, threads, { WARPWRIGHT_NUM_THREADS: "3" }).stdout).toBe("3\n");
    for (const text of ["0", "1.5", "many", "-1", "1e9"]) {
      expect(report(whole, { WARPWRIGHT_NUM_THREADS: text }).error).toEqual({
        name: "RangeError",
        code: "ERR_VALUE",
        message:
          "runtime: expected WARPWRIGHT_NUM_THREADS to be an integer from 1 to 1024, " +
          `got "${text}"`,
      });
    }
  });

  test("loads in eight workers at once, and leaves the threads as they are", () => {
    const source = `
      import { Worker } from "node:worker_threads";
      import { getNumThreads, setNumThreads } from "@warpwright/runtime";
      setNumThreads(1);
      const work = \`
        import { parentPort } from "node:worker_threads";
        import { randn } from "@warpwright/runtime";
        parentPort.postMessage(await randn([1000], { seed: 1 }).to("bfloat16").select(0, 3).item());
      \`;
      const start = (done, fail) =>
        new Worker(work, { eval: true }).on("message", done).on("error", fail);
      const workers = Array.from({ length: 8 }, () => new Promise(start));
      const answers = await Promise.all(workers);
      console.log(new Set(answers).size, answers.length, getNumThreads());`;
    expect(runModule(whole, source)).toMatchObject({ stdout: "1 8 1\n", stderr: "" });
  });

  test("two copies warn once, and take each other's tensors", () => {
    const other = install({ addon: true });
    const source = `
      import { ones } from "@warpwright/runtime";
      import * as other from ${JSON.stringify(join(other.package, "dist/index.js"))};
      import { handleOf } from ${JSON.stringify(join(other.package, "dist/kernel/index.js"))};
      const x = ones([2]);
      console.log(typeof handleOf(x), await other.zeros([2]).copyFrom(x).tolist());`;
    const { stdout, stderr } = runModule(whole, source);
    expect(stdout).toBe("object [ 1, 1 ]\n");
    expect(stderr.match(/WARPWRIGHT_COPIES/g)).toHaveLength(1);
    expect(stderr).toContain("@warpwright/runtime is loaded more than once, from file:");
    expect(readdirSync(other.folder)).toEqual(["node_modules"]);
    other.remove();
  });
});

describe("loadAddon", () => {
  test("loads at the first call, and once", () => {
    let asked = 0;
    const native = loadAddon<object>("runtime", {
      [platform]: () => {
        asked += 1;
        return pathToFileURL(addonPath());
      },
    });
    expect(asked).toBe(0);
    expect(native()).toBe(native());
    expect(asked).toBe(1);
  });

  test("tries again after a failure", () => {
    const later = join(whole.folder, "later.node");
    const native = loadAddon<object>("runtime", { [platform]: () => pathToFileURL(later) });
    expect(native).toThrow(/later\.node is missing, /);
    cpSync(addonPath(), later);
    expect(native()).toHaveProperty("probe");
  });

  test("takes packages of others by their full names", async () => {
    const native = loadAddon("@someone/my-kernel", {});
    await expectFailure(
      "ERR_LOAD my-kernel: @someone/my-kernel has no prebuilt addon for *, and needs a source *",
      native,
    );
    process.env.WARPWRIGHT_MY_KERNEL_NATIVE_PATH = "/none.node";
    await expectFailure(
      "ERR_LOAD my-kernel: cannot load * that WARPWRIGHT_MY_KERNEL_NATIVE_PATH names: *",
      native,
    );
    delete process.env.WARPWRIGHT_MY_KERNEL_NATIVE_PATH;
  });
});
