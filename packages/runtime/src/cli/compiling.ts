import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { CommandFailure } from "./failures.js";
import type { Toolbox } from "./toolbox.js";
import type { BuildSettings } from "./tools.js";

/** Configures and builds in the folder; what the compilers say is shown. */
export function compile(folder: string, toolbox: Toolbox, { nvcc, archs }: BuildSettings): void {
  const options: Record<string, string> = {
    WARPWRIGHT_CUDA: nvcc === null ? "off" : "on",
    WARPWRIGHT_CUDA_ARCHS: archs,
    ...(nvcc === null ? {} : { CMAKE_CUDA_COMPILER: nvcc }),
  };
  const definitions = Object.entries(options).map(([name, value]) => `--CD${name}=${value}`);
  const steps = [
    ["configure", "--log-level=warn", ...definitions],
    ["build", "--log-level=warn", `--parallel=${availableParallelism()}`],
  ];
  for (const step of steps) {
    const args = [toolbox.cmakeJs, ...step];
    const { status } = spawnSync(process.execPath, args, { cwd: folder, stdio: "inherit" });
    if (status !== 0) throw new CommandFailure("build: the compilers failed, see above");
  }
}
