// Words for error messages.

/** What kind of value this is, with its article: "a string", "an array", "null". */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value !== "object") return withArticle(typeof value);
  if (Array.isArray(value)) return "an array";
  if (isPromise(value)) return "a promise";
  const name = value.constructor?.name;
  return typeof name === "string" && name !== "" && name !== "Object"
    ? withArticle(name)
    : "an object";
}

/** Whether the value can be awaited. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { then?: unknown }).then === "function"
  );
}

/** "a", "a or b", "a, b or c". */
export function listOf(words: readonly string[], conjunction: "or" | "and" = "or"): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} ${conjunction} ${words[words.length - 1]}`;
}

/** "[2, 3]" */
export function shapeText(shape: readonly number[]): string {
  return `[${shape.join(", ")}]`;
}

/** A value as a message quotes it: strings in quotes, the rest as they print, cut when long. */
export function quote(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : printed(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
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
