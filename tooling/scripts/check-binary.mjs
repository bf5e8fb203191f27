// Gates on every staged addon of a published package: what it must find on a user's machine, what
// it shows to other addons, how large it is, and that it holds the architectures it says.
//   node tooling/scripts/check-binary.mjs [--archs <architectures that a release holds>]
import fs from "node:fs";
import path from "node:path";
import { expandArchs, inspectAddon } from "./elf.mjs";
import {
  addonName,
  isAtLeast,
  isMain,
  nativePackages,
  platformFolder,
  readJson,
  repoRoot,
  runMain,
} from "./lib.mjs";
import { readOptions } from "./options.mjs";

/** ND-13: RHEL 9, Ubuntu 22.04, Debian 12, Amazon Linux 2023; static cudart needs it anyway. */
const highestGlibc = "2.34";
const exportedNames = ["napi_register_module_v1", "node_api_module_get_api_version_v1"];
/** ND-18: no libstdc++ (linked statically) and no libcuda (loaded when first used). */
const knownLibraries =
  /^(libc|libm|libgcc_s|libpthread|libdl|librt|ld-linux-x86-64|ld-linux-aarch64)\.so\.\d+$/;
/**
 * ND-15: Electron refuses external buffers. Other runtimes than Node have neither libuv nor V8's
 * and Node's C++ interfaces, which change with every major version besides.
 */
const refusedImports = /^(napi_create_external_(array)?buffer$|uv_|_ZN[K]?(2v8|4node))/;
/** Of five architectures; a package that needs more says so in package.json: binary.max_bytes. */
const usualMaxBytes = 20 * 2 ** 20;

/**
 * The problems of one package's addon, one sentence each. With architectures, in CMake's notation,
 * it has to hold these and no others.
 */
export function checkAddon(folder, manifest, { requiredArchs } = {}) {
  const staged = path.join(folder, "prebuilds", platformFolder);
  const file = path.join(staged, `${addonName(manifest)}.node`);
  if (!fs.existsSync(file)) return [`${file} is missing`];
  const info = readJson(path.join(staged, "build-info.json"));
  const addon = inspectAddon(file);
  const maxBytes = manifest.binary.max_bytes ?? usualMaxBytes;
  const foreign = addon.needed.filter((library) => !knownLibraries.test(library));
  const refused = addon.imported.filter((name) => refusedImports.test(name));
  const archs = info.cuda ? expandArchs(info.archs) : [];
  const checks = [
    [isAtLeast(highestGlibc, addon.glibc), `needs glibc ${addon.glibc}, above ${highestGlibc}`],
    [String(addon.exported) === String(exportedNames), `exports ${addon.exported.join(", ")}`],
    [foreign.length === 0, `needs ${foreign.join(", ")}`],
    [refused.length === 0, `uses ${refused.join(", ")}`],
    [addon.searched.length === 0, `looks for libraries in ${addon.searched.join(", ")}`],
    [addon.arch === process.arch, `is for ${addon.arch}, in the folder of ${platformFolder}`],
    [addon.bytes <= maxBytes, `has ${addon.bytes} bytes, above ${maxBytes}`],
    [String(addon.archs) === String(archs), `holds [${addon.archs}], build-info says [${archs}]`],
    [info.version === manifest.version, `is of version ${info.version}, not ${manifest.version}`],
    [info.glibc === addon.glibc, `needs glibc ${addon.glibc}, build-info says ${info.glibc}`],
  ];
  if (requiredArchs !== undefined) {
    const wanted = expandArchs(requiredArchs);
    checks.push([info.cuda, "was built without CUDA"]);
    checks.push([!info.cuda || String(archs) === String(wanted), `lacks one of [${wanted}]`]);
  }
  return checks.filter(([good]) => !good).map(([, problem]) => `${manifest.name} ${problem}`);
}

if (isMain(import.meta.url)) {
  runMain(() => {
    const requiredArchs = readOptions({ archs: { type: "string" } }).archs?.split(";");
    for (const { folder, manifest } of nativePackages()) {
      const problems = checkAddon(path.join(repoRoot, folder), manifest, { requiredArchs });
      for (const problem of problems) console.error(problem);
      if (problems.length > 0) process.exitCode = 1;
      else console.log(`${manifest.name}: good`);
    }
  });
}
