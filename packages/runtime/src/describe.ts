// Words for error messages. Whatever a value does when it is looked at, they are found, and are
// short.
import { types } from "node:util";

// Characters of a message that a value may fill.
const longest = 80;

// Numbers of a list that a message shows.
const shownNumbers = 16;

/** What kind of value this is, with its article: "a string", "an array", "null". */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value !== "object") return withArticle(typeof value);
  if (isArray(value)) return "an array";
  if (types.isProxy(value)) return "a proxy";
  if (isPromise(value)) return "a promise";
  const name = classOf(value);
  return typeof name === "string" && name !== "" && name !== "Object"
    ? withArticle(cut(name))
    : "an object";
}

function classOf(value: object): unknown {
  try {
    return value.constructor?.name;
  } catch {
    return undefined; // a getter's own error
  }
}

/** As Array.isArray, which throws for a proxy that has been revoked. */
export function isArray(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/** Whether the value can be awaited. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  if (typeof value !== "object" || value === null) return false;
  try {
    return typeof (value as { then?: unknown }).then === "function";
  } catch {
    return false;
  }
}

/** "a", "a or b", "a, b or c". */
export function listOf(words: readonly string[], conjunction: "or" | "and" = "or"): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} ${conjunction} ${words[words.length - 1]}`;
}

/** "[2, 3]" */
export function shapeText(shape: readonly number[]): string {
  if (shape.length <= shownNumbers) return `[${shape.join(", ")}]`;
  return `[${shape.slice(0, shownNumbers).join(", ")}, and ${shape.length - shownNumbers} more]`;
}

/** A value as a message quotes it: strings in quotes, the rest as they print, cut when long. */
export function quote(value: unknown): string {
  // A long string is cut before its characters are escaped, and again after.
  return cut(typeof value === "string" ? JSON.stringify(value.slice(0, longest)) : printed(value));
}

/** The text, or its beginning where it is too long for a message. */
export function cut(text: string, length = longest): string {
  return text.length > length ? `${text.slice(0, length - 3)}...` : text;
}

function printed(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "object" || typeof value === "function") return describe(value);
  return Object.is(value, -0) ? "-0" : String(value);
}

/** "a Uint8Array", "an array". A leading u is spoken as in "unit" in all that occurs. */
export function withArticle(noun: string): string {
  return `${/^[aeio]/i.test(noun) ? "an" : "a"} ${noun}`;
}
