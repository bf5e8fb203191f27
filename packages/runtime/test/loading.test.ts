// What an addon that does not load says: the package, the platform, the cause, what to do.
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Installed, install, runModule } from "./installed.js";
import {
  addonOf,
  cutOff,
  empty,
  foreign,
  missingLibrary,
  newerGlibc,
  otherProcessor,
  type Plant,
  plant,
} from "./planted-addons.js";

let installed: Installed;
beforeAll(() => {
  installed = install({ addon: true, prefix: "warpwright ä 漢 " });
});
afterAll(() => installed.remove());

const use = `
  const { ones } = await import("@warpwright/runtime");
  try { console.log(await ones([1]).item()); }
  catch ({ code, message }) { console.log(code, message); }`;

function firstUse(env: Record<string, string> = {}, before = ""): string {
  const { stdout, stderr, status } = runModule(installed, before + use, env);
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return stdout.trimEnd();
}

const anywhere = "npx @warpwright/runtime build @warpwright/runtime";
const again = `; install @warpwright/runtime@0.1.0 again, or build it here: run "${anywhere}"`;

const faults: [id: string, fault: Plant, reason: RegExp, remedy: string][] = [
  ["[ND-21] no file", (path) => rmSync(path), /runtime\.node is missing$/, again],
  ["[ND-21] an empty file", empty, /runtime\.node is cut off: it has 0 bytes$/, again],
  ["[ND-21] a file cut off", cutOff, /runtime\.node is cut off: it has \d+ of \d+ bytes$/, again],
  ["[ND-12] another system's file", foreign, /runtime\.node is no addon for Linux$/, again],
  [
    "[ND-12] another processor's file",
    otherProcessor,
    /runtime\.node is for arm64, this is x64$/,
    again,
  ],
  [
    "[ND-21] a library that is missing",
    missingLibrary,
    /: it needs the library libwarpwright-absent\.so\.1, which the system does not find \(.+\)$/,
    "; install that library, or put its folder into LD_LIBRARY_PATH",
  ],
  [
    "[ND-13] a C library that is too old",
    newerGlibc,
    /: it needs glibc 9\.9, and this system has 2\.\d+ \(.+`GLIBC_9\.9' not found.+\)$/,
    `; use a newer system, or build it for this one: run "${anywhere}"`,
  ],
];

describe("an addon that does not load", () => {
  test.each(faults)("%s", (_, fault, reason, remedy) => {
    const mend = plant(installed, fault);
    const message = firstUse();
    mend();
    expect(message).toMatch(
      /^ERR_LOAD runtime: cannot load the addon of @warpwright\/runtime for /,
    );
    expect(message).toMatch(/linux-x64 \(glibc [\d.]+ found, 2\.34 or later needed\): /);
    expect(message.slice(-remedy.length)).toBe(remedy);
    expect(message.slice(0, -remedy.length)).toMatch(reason);
    expect(firstUse()).toBe("1");
  });

  test("[ND-12] on musl says that there is none", () => {
    const musl = `
      process.report.getReport = () => ({ header: {} });`;
    const mend = plant(installed, (path) => rmSync(path));
    const message = firstUse({}, musl);
    mend();
    expect(message).toContain(
      "for linux-x64 (musl found, glibc 2.34 or later needed): musl has no CUDA, and the addon " +
        "needs glibc 2.34 or later (",
    );
    expect(message).toMatch(/; use a system with glibc, such as the images node:22-slim and /);
  });

  test("[ND-14] the variable's file says which variable to mend", () => {
    expect(firstUse({ WARPWRIGHT_RUNTIME_NATIVE_PATH: "/nowhere/runtime.node" })).toBe(
      "ERR_LOAD runtime: cannot load the addon of @warpwright/runtime that " +
        "WARPWRIGHT_RUNTIME_NATIVE_PATH names: /nowhere/runtime.node is missing; correct the " +
        "variable, or remove it for the package's own addon",
    );
  });
});

describe("an addon loads", () => {
  test("[ND-21] from a path with spaces and letters beyond ASCII", () => {
    expect(addonOf(installed)).toContain("warpwright ä 漢 ");
    expect(firstUse()).toBe("1");
  });

  test("[ND-21] from a folder that nothing can be written to", () => {
    const folders = readdirSync(installed.folder, { recursive: true, encoding: "utf8" })
      .map((name) => join(installed.folder, name))
      .filter((path) => statSync(path).isDirectory());
    for (const folder of [installed.folder, ...folders]) chmodSync(folder, 0o555);
    const asNobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
    const { stdout } = runModule(installed, use, {}, asNobody);
    for (const folder of [installed.folder, ...folders]) chmodSync(folder, 0o755);
    expect(stdout).toBe("1\n");
  });

  test("[ND-14] by the variable, beside code in a file of its own", () => {
    const elsewhere = join(installed.folder, "elsewhere");
    mkdirSync(elsewhere);
    cpSync(addonOf(installed), join(elsewhere, "the addon.node"));
    const mend = plant(installed, (path) => rmSync(path));
    const env = { WARPWRIGHT_RUNTIME_NATIVE_PATH: "elsewhere/the addon.node" };
    const text = firstUse(env);
    mend();
    expect(text).toBe("1");
  });
});
