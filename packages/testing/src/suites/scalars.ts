// What options that are no tensors may be, and what is said of everything else.
import type { Callee, ScalarOption } from "./callee.js";
import { kindRefusals, type Refusal } from "./refusals.js";

const infinity = Number.POSITIVE_INFINITY;
const notFinite = [Number.NaN, infinity, -infinity];
const beyondFloat32 = [1e300, 3.5e38, Number.MAX_VALUE];
const otherDTypes = ["int32", "int64", "uint8", "bool", "float64", "bf16", ""];
const noDevices = ["gpu", "", "cuda:", "cuda:-1", "cuda:01", "CPU"];

/** The value that a declaration calls good. */
export function givenValue(option: ScalarOption): unknown {
  if ("number" in option) return option.number;
  if ("word" in option) return option.word;
  if ("flag" in option) return option.flag;
  return "dtype" in option ? option.dtype : undefined;
}

/** Refusals of all options that are no tensors. */
export function scalarRefusals(callee: Callee): Refusal[] {
  return Object.entries(callee.options).flatMap(([name, option]) => {
    const kind = kindOf(option);
    const allowed = option.required ? [kind] : ["undefined", kind];
    return [...kindRefusals(callee, name, kind, allowed), ...valueRefusals(callee, name, option)];
  });
}

function kindOf(option: ScalarOption): string {
  if ("number" in option) return "a number";
  return "flag" in option ? "a boolean" : "a string";
}

function valueRefusals(callee: Callee, name: string, option: ScalarOption): Refusal[] {
  const refuse = (wanted: string, values: readonly unknown[]) =>
    values.map((value) => {
      const found = typeof value === "string" ? JSON.stringify(value) : String(value);
      return {
        callee,
        fault: `${name} is ${found}`,
        spoil: () => ({ [name]: value }),
        error: `${callee.op}: expected ${wanted}, got ${found}`,
      };
    });
  const coded = (code: string, refusals: Refusal[]) =>
    refusals.map((refusal) => ({ ...refusal, error: `${code} ${refusal.error}` }));

  if ("number" in option) return coded("ERR_VALUE", numberRefusals(name, option, refuse));
  if ("word" in option) {
    const wanted = option.of.map((word) => `"${word}"`).join(", ");
    const listed = wanted.replace(/, (?="[^"]*"$)/, " or ");
    return coded("ERR_VALUE", refuse(`${name} to be ${listed}`, wrongWords(option)));
  }
  if ("dtype" in option) {
    return coded("ERR_DTYPE", refuse("dtype float32, float16 or bfloat16", otherDTypes));
  }
  if ("device" in option) {
    const wanted = `${name} to be "cpu", "cuda" or "cuda:N"`;
    return coded("ERR_VALUE", refuse(wanted, noDevices));
  }
  return [];
}

type Refuse = (wanted: string, values: readonly unknown[]) => Refusal[];

function numberRefusals(
  name: string,
  { min, above, integer, infinite }: Extract<ScalarOption, { number: number }>,
  refuse: Refuse,
): Refusal[] {
  const least = min === undefined ? "" : ` of at least ${min}`;
  const limit = above === undefined ? least : ` above ${above}`;
  if (integer) {
    const below = min === undefined ? [] : [min - 1, min - 9];
    const values = [...below, 1.5, ...notFinite, 2 ** 53];
    return refuse(`${name} to be an integer${limit}`, values);
  }
  const bound = above ?? min;
  const below = bound === undefined ? [] : [1e-6, 1, 1e300].map((less) => bound - less);
  if (min === 0) below.push(-Number.MIN_VALUE);
  if (above !== undefined) below.push(above);
  const never = infinite ? notFinite.filter((value) => value !== infinity) : notFinite;
  const negative = bound === undefined ? beyondFloat32.map((value) => -value) : [];
  return [
    ...refuse(`${name} to be a finite number${limit}`, [...never, ...below]),
    ...refuse(`${name} to be a finite float32 number${least}`, [...beyondFloat32, ...negative]),
  ];
}

/** No word, words in other capitals or with a space, and those of the declaration. */
function wrongWords({ of: words, not = [] }: Extract<ScalarOption, { word: string }>): string[] {
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
  return ["", ...words.flatMap((word) => [capital(word), `${word} `]), ...not];
}
