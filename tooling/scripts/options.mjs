// Reads a script's options; one that it does not know is a sentence instead of a stack.
import { parseArgs } from "node:util";
import { Failure } from "./lib.mjs";

/** The values, as node:util's parseArgs finds them. */
export function readOptions(options, args = process.argv.slice(2)) {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    if (!error.code?.startsWith("ERR_PARSE_ARGS")) throw error;
    throw new Failure(error.message);
  }
}
