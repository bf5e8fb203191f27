// A scaling as users write it: every name known, every number in its range.
import {
  checkBoolean,
  checkFinite,
  checkOneOf,
  checkOptions,
  type NumberBounds,
  valueError,
} from "@warpwright/runtime/kernel";
import type { RopeScaling } from "./scaling.js";

type Rule = "required" | "optional" | "flag" | "list";

const original = "originalMaxPositionEmbeddings";

/** What each type has beside `type`. */
const rules: Readonly<Record<RopeScaling["type"], Readonly<Record<string, Rule>>>> = {
  linear: { factor: "required" },
  dynamic: { factor: "required", [original]: "optional" },
  llama3: {
    factor: "required",
    lowFreqFactor: "required",
    highFreqFactor: "required",
    [original]: "required",
  },
  yarn: {
    factor: "required",
    [original]: "optional",
    attentionFactor: "optional",
    betaFast: "optional",
    betaSlow: "optional",
    mscale: "optional",
    mscaleAllDim: "optional",
    truncate: "flag",
  },
  longrope: {
    shortFactor: "list",
    longFactor: "list",
    factor: "optional",
    [original]: "optional",
    attentionFactor: "optional",
  },
};

const positive: NumberBounds = { above: 0 };
// transformers takes a 0 for left out.
const boundsOf: Readonly<Record<string, NumberBounds>> = {
  mscale: { min: 0 },
  mscaleAllDim: { min: 0 },
};

/**
 * The scaling, each of its values read once, with a copy of its lists.
 *
 * @param dim of the tables, whose half the lists have elements
 * @throws TypeError ERR_KIND; RangeError ERR_VALUE
 */
export function checkScaling(
  op: string,
  scaling: RopeScaling | undefined,
  dim: number,
): RopeScaling | undefined {
  if (scaling === undefined) return undefined;
  checkOptions(op, scaling, ["type", ...Object.values(rules).flatMap(Object.keys)], "scaling");
  const { type } = scaling;
  checkOneOf(op, "scaling.type", type, Object.keys(rules));
  checkOptions(op, scaling, ["type", ...Object.keys(rules[type])], "scaling");
  const given = scaling as unknown as Record<string, unknown>;
  const checked: Record<string, unknown> = { type };
  for (const [name, rule] of Object.entries(rules[type])) {
    const value = given[name];
    if (value === undefined && (rule === "optional" || rule === "flag")) continue;
    checked[name] = checkValue(op, name, value, rule, dim);
  }
  return checked as unknown as RopeScaling;
}

function checkValue(op: string, name: string, value: unknown, rule: Rule, dim: number): unknown {
  const path = `scaling.${name}`;
  if (rule === "flag") {
    checkBoolean(op, path, value);
  } else if (rule === "list") {
    return checkList(op, path, value, dim / 2);
  } else {
    checkFinite(op, path, value, boundsOf[name] ?? positive);
  }
  return value;
}

function checkList(op: string, path: string, value: unknown, length: number): number[] {
  const list = Array.isArray(value) ? [...(value as unknown[])] : [];
  if (list.length !== length) {
    const found = Array.isArray(value) ? `${list.length}` : "no array";
    throw valueError(`${op}: expected ${path} to be ${length} numbers, got ${found}`);
  }
  for (const [i, number] of list.entries()) checkFinite(op, `${path}[${i}]`, number, positive);
  return list as number[];
}
