import { type ParseArgsConfig, parseArgs } from "node:util";

/** What a user can mend: printed as it is, without a stack. */
export class CommandFailure extends Error {
  readonly exitCode: number = 1;
}

/** A command line that means nothing. */
export class UsageFailure extends CommandFailure {
  override readonly exitCode = 2;

  constructor(problem: string) {
    super(`warpwright: ${problem}; see npx @warpwright/runtime --help`);
  }
}

/** parseArgs, whose errors begin with the sentence that is needed. */
export function parseOptions<T extends ParseArgsConfig>(
  config: T,
): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!code?.startsWith("ERR_PARSE_ARGS")) throw error;
    throw new UsageFailure(
      message.split(". ", 1)[0]!.replace(/^[A-Z]/, (letter) => letter.toLowerCase()),
    );
  }
}
