// Says in one sentence what a machine lacks, before npm or CMake say it in a page.
import { capture, Failure, isAtLeast } from "./lib.mjs";

/** Lowest versions; g++ 11 is the first with the C++20 that the headers use. */
const lowestNode = "20.19.0";
const tools = [
  { name: "g++", command: process.env.CXX || "g++", lowest: "11.0" },
  { name: "make", command: "make", lowest: "4.0" },
  { name: "cmake", command: "cmake", lowest: "3.25" },
];

export const nodeMajor = process.versions.node.split(".")[0];

export function requireNode() {
  if (!isAtLeast(process.versions.node, lowestNode)) {
    throw new Failure(`Node.js ${lowestNode} or newer is needed, this is ${process.versions.node}`);
  }
}

/** Called only where something native is built. */
export function requireCompilers() {
  const missing = [];
  for (const { name, command, lowest } of tools) {
    const version = /\d+\.\d+(\.\d+)?/.exec(versionText(command))?.[0];
    if (version === undefined) missing.push(`${name} (not found)`);
    else if (!isAtLeast(version, lowest)) missing.push(`${name} >= ${lowest} (found ${version})`);
  }
  if (missing.length === 0) return;
  throw new Failure(
    `building needs ${missing.join(", ")}; on Debian or Ubuntu: apt-get install g++ make cmake`,
  );
}

/**
 * g++'s banner may name a distribution's release before its own: -dumpfullversion has the number
 * alone.
 */
function versionText(command) {
  return capture(command, ["-dumpfullversion"]) ?? capture(command, ["--version"]) ?? "";
}
