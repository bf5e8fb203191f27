#!/usr/bin/env node
// npx @warpwright/runtime <command>
import { build, buildUsage } from "./build.js";
import { doctor, doctorUsage } from "./doctor.js";
import { CommandFailure, UsageFailure } from "./failures.js";

interface Command {
  /** Resolves with the exit code. */
  run(args: readonly string[]): Promise<number>;
  usage: string;
}

const commands: Readonly<Record<string, Command>> = {
  doctor: { run: doctor, usage: doctorUsage },
  build: { run: build, usage: buildUsage },
};

const usage = `usage: npx @warpwright/runtime <command>

  doctor   says what this machine and the packages installed here can do
  build    builds packages' addons on this machine, from their own sources

<command> --help says more.
`;

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === "--help" || name === "-h") return print(usage);
  if (name === undefined) throw new UsageFailure("a command is missing: doctor or build");
  if (!Object.hasOwn(commands, name)) {
    throw new UsageFailure(`there is no command "${name}", only doctor and build`);
  }
  const command = commands[name]!;
  if (args.includes("--help") || args.includes("-h")) return print(command.usage);
  return command.run(args);
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof CommandFailure)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.exitCode;
}
