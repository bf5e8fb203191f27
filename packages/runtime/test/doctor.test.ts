// npx @warpwright/runtime doctor, in the folder of a user.
import { spawnSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { readArchitectures } from "../src/architectures.js";
import type { Report } from "../src/cli/doctor.js";
import { isAvailable } from "../src/index.js";
import { buildDriver } from "./driver.js";
import { type Installed, install } from "./installed.js";
import { aborting, addonOf, plant, platform } from "./planted-addons.js";
import { type KernelOptions, plantKernel, removeOthers, runCommand } from "./user.js";

let installed: Installed;
beforeAll(() => {
  installed = install({ addon: true });
});
afterEach(() => removeOthers(installed));
afterAll(() => installed.remove());

const warpwright = (args: readonly string[], env?: Record<string, string>) =>
  runCommand(installed, args, env);

function doctor(env: Record<string, string> = {}): Report & { status: number | null } {
  const { stdout, stderr, status } = warpwright(["doctor", "--json"], env);
  expect(stderr).toBe("");
  return { ...(JSON.parse(stdout) as Report), status };
}

const addKernel = (name: string, options?: KernelOptions) => plantKernel(installed, name, options);

// Where there is a GPU, its driver speaks as well.
const env = { CUDA_VISIBLE_DEVICES: "" };

describe("doctor", () => {
  test("[ND-09] --json prints JSON alone, and a machine without a GPU is usable", () => {
    addKernel("adder");
    const { status, usable, node, packages, problems, cuda } = doctor();
    expect({ status, usable, problems }).toEqual({ status: 0, usable: true, problems: [] });
    expect(node).toBe(process.versions.node);
    expect(cuda.available).toBe(isAvailable("cuda"));
    expect(packages.map(({ name, version }) => `${name}@${version}`)).toEqual([
      "@warpwright/adder@0.3.1",
      "@warpwright/runtime@0.1.0",
    ]);
    expect(packages[1]?.addon).toMatchObject({ failure: null, path: addonOf(installed) });
    expect(packages[1]?.addon?.buildInfo?.archs).toEqual(readArchitectures());
  });

  test("says the same to people", () => {
    const { stdout, stderr, status } = warpwright(["doctor"], env);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout).toContain(`Node.js ${process.versions.node} on ${platform}, glibc 2.`);
    expect(stdout).toMatch(/\n@warpwright\/runtime 0\.1\.0\n .*\n .*runtime\.node loads\n/);
    expect(stdout).toMatch(/\nno problems\n$/);
  });

  test("without any package looks at its own", () => {
    const cli = join(installed.package, "dist/cli/main.js");
    const { stdout } = spawnSync(process.execPath, [cli, "doctor"], { cwd: "/", encoding: "utf8" });
    expect(stdout).toContain(installed.package);
  });
});

describe("doctor's problems", () => {
  const build = (name: string) => `run "npx @warpwright/runtime build @warpwright/${name}"`;

  test("[ND-12] an addon that is not there for this platform", () => {
    addKernel("adder", { addon: false });
    const { status, usable, problems } = doctor(env);
    expect({ status, usable }).toEqual({ status: 1, usable: false });
    expect(problems).toEqual([
      {
        problem:
          "the addon of @warpwright/adder does not load: there is no prebuilt addon for " +
          platform,
        remedy: build("adder"),
      },
    ]);
  });

  test("[ND-21] an addon that ends the program which loads it", () => {
    const mend = plant(installed, aborting);
    const { problems } = doctor(env);
    mend();
    expect(problems).toHaveLength(1);
    expect(problems[0]?.problem).toMatch(/runtime\.node ends the program with SIGABRT$/);
    expect(problems[0]?.remedy).toContain(build("runtime"));
  });

  test("a variable that names no addon", () => {
    const { problems, packages } = doctor({ ...env, WARPWRIGHT_RUNTIME_NATIVE_PATH: "none.node" });
    expect(problems[0]?.problem).toMatch(/none\.node is missing$/);
    expect(problems[0]?.remedy).toMatch(/^correct WARPWRIGHT_RUNTIME_NATIVE_PATH, or remove it/);
    expect(packages[0]?.addon?.path).toBe(join(installed.folder, "none.node"));
  });

  test("a runtime that is too old for a kernel", () => {
    addKernel("adder", { range: ">=0.2.0 <1.0.0" });
    expect(doctor(env).problems).toEqual([
      {
        problem:
          "@warpwright/adder needs @warpwright/runtime >=0.2.0 <1.0.0, and 0.1.0 is installed",
        remedy: 'run "npm install @warpwright/runtime@latest @warpwright/adder@latest"',
      },
    ]);
  });

  test("two runtimes", () => {
    const second = join(addKernel("adder"), "node_modules/@warpwright/runtime");
    cpSync(installed.package, second, { recursive: true });
    const { problems } = doctor(env);
    expect(problems.map(({ problem }) => problem)).toEqual([
      expect.stringMatching(/^there are 2 copies of @warpwright\/runtime, .*: \S+ and \S+$/),
    ]);
    expect(problems[0]?.remedy).toContain("npm dedupe");
    rmSync(second, { recursive: true });
    expect(doctor(env).usable).toBe(true);
  });

  test.skipIf(readArchitectures().length === 0)("[ND-10] a driver's library without a GPU", () => {
    const driver = buildDriver();
    const { usable, cuda } = doctor({ ...env, ...driver.env(12080, 0) });
    driver.remove();
    expect(cuda).toMatchObject({ driverCuda: "12.8", runtimeCuda: "13.0", available: false });
    expect(cuda.explanation).toContain("the NVIDIA driver is too old: it has CUDA 12.8");
    expect(usable).toBe(!cuda.present);
  });
});

describe("the command line", () => {
  test.each([
    [[], "a command is missing: doctor or build"],
    [["mend"], 'there is no command "mend", only doctor and build'],
    [["toString"], 'there is no command "toString", only doctor and build'],
    [["doctor", "--jsn"], "unknown option '--jsn'"],
    [["doctor", "rmsnorm"], "unexpected argument 'rmsnorm'"],
    [["build", "--archs"], "option '--archs <value>' argument missing"],
  ])("%j is refused in one sentence", (args, problem) => {
    expect(warpwright(args)).toEqual({
      stdout: "",
      stderr: `warpwright: ${problem}; see npx @warpwright/runtime --help\n`,
      status: 2,
    });
  });

  test.each([[["--help"]], [["doctor", "--help"]], [["build", "rmsnorm", "-h"]]])("%j", (args) => {
    const { stdout, stderr, status } = warpwright(args);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout).toMatch(/^usage: npx @warpwright\/runtime /);
  });
});
