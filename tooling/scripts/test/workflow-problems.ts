// What is wrong with a workflow beyond its grammar: rights, pins, and commands that do not exist.
import fs from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { readJson, repoRoot } from "../lib.mjs";

type Permissions = Record<string, string>;

interface Step {
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}

interface Job {
  permissions?: Permissions;
  container?: string;
  "timeout-minutes"?: number;
  "runs-on": string | string[];
  if?: string;
  steps: Step[];
}

export interface Workflow {
  on: Record<string, unknown>;
  permissions?: Permissions;
  concurrency?: object;
  jobs: Record<string, Job>;
}

const pinned = /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
const knownSecrets = /^(GITHUB_TOKEN|TURBO_[A-Z_]+)$/;

export function workflowProblems(text: string): string[] {
  const workflow = parse(text) as Workflow;
  const uses = [...text.matchAll(/^ +(?:- )?uses: (.*)$/gm)].map((match) => match[1]!);
  const secrets = [...text.matchAll(/\bsecrets\.(\w+)/g)].map((match) => match[1]!);
  return [
    ...uses.filter((each) => !pinned.test(each)).map((each) => `is not pinned: ${each}`),
    ...secrets.filter((name) => !knownSecrets.test(name)).map((name) => `needs a secret ${name}`),
    ...("pull_request_target" in workflow.on ? ["gives forks its rights"] : []),
    ...(workflow.concurrency === undefined ? ["has no concurrency"] : []),
    ...permissionProblems(workflow.permissions, ["read"]),
    ...Object.entries(workflow.jobs).flatMap(([name, job]) =>
      jobProblems(job, workflow).map((problem) => `${name}: ${problem}`),
    ),
  ];
}

function jobProblems(job: Job, workflow: Workflow): string[] {
  const granted = job.permissions ?? workflow.permissions ?? {};
  const selfHosted = job["runs-on"].includes("self-hosted");
  const sameRepository = "pull_request.head.repo.full_name == github.repository";
  const open = "pull_request" in workflow.on && !job.if?.includes(sameRepository);
  return [
    ...(job["timeout-minutes"] === undefined ? ["has no timeout"] : []),
    ...(selfHosted && open ? ["runs forks on machines of one's own"] : []),
    ...(job.container && !/^debian:\d+\.\d+$/.test(job.container) ? ["floats its container"] : []),
    ...(job.permissions ? permissionProblems(job.permissions, ["read", "write"]) : []),
    ...job.steps.flatMap((step) => [
      ...checkoutProblems(step, granted),
      ...commandsOf(step).flatMap(commandProblems),
    ]),
  ];
}

function permissionProblems(permissions: Permissions | undefined, allowed: string[]): string[] {
  if (permissions === undefined) return ["has no permissions"];
  if (typeof permissions === "string") return [`grants ${permissions}`];
  return Object.entries(permissions)
    .filter(([, right]) => !allowed.includes(right))
    .map(([scope, right]) => `grants ${scope}: ${right} to all`);
}

/** A token that git keeps is there for whatever the job runs next. */
function checkoutProblems({ uses, with: options }: Step, granted: Permissions): string[] {
  if (!uses?.startsWith("actions/checkout@") || granted["contents"] === "write") return [];
  return options?.["persist-credentials"] === false ? [] : ["keeps the checkout's token"];
}

function commandsOf({ run, with: options = {} }: Step): string[] {
  const inputs = [options["version"], options["publish"]].filter((each) => each !== undefined);
  return [...(run?.split(/\n|&&|\$\(/) ?? []), ...inputs.map(String)].map((each) => each.trim());
}

function commandProblems(command: string): string[] {
  const [program, ...args] = command.split(/[\s)]+/);
  if (program === "npm") {
    const { scripts } = readJson(path.join(repoRoot, "package.json"));
    const known = args[0] === "run" && Object.hasOwn(scripts, args[1] ?? "");
    return known ? [] : [`there is no ${command}`];
  }
  if (program !== "node" && program !== "bash") return [];
  return fs.existsSync(path.join(repoRoot, args[0]!)) ? [] : [`there is no ${args[0]}`];
}
