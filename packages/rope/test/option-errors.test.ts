import { type Device, ones, zeros } from "@warpwright/runtime";
import {
  type Callee,
  kindRefusals,
  type Refusal,
  testOptionErrors,
} from "@warpwright/testing/vitest";
import { callees } from "./callees.js";

// The good call has 2 tokens and 2 heads of 8 columns, of which 4 from the third on are rotated;
// tables of 16 positions.
const values: readonly [fault: string, spoiled: object, error: string][] = [
  ["an odd rotaryDim", { rotaryDim: 3 }, "expected rotaryDim to be even, got 3"],
  [
    "a rotaryDim beyond the tables",
    { rotaryDim: 6 },
    "expected rotaryDim of at most 4, twice the width of cos, got 6",
  ],
  [
    "a rotary range beyond the head",
    { rotaryOffset: 5 },
    "expected rotaryOffset + rotaryDim of at most 8, the head dim, got 5 + 4",
  ],
  [
    "a token beyond the tables",
    { offset: 15 },
    "expected offset + seqlen of at most 16, the rows of cos, got 15 + 2",
  ],
  ["a token before the tables", { offset: -1 }, "expected offset to be at least 0, got -1"],
];

function indexRefusals(device: Device): readonly (readonly [string, object, string])[] {
  const int32 = (shape: readonly number[]) => zeros(shape, { dtype: "int32", device });
  const of = (name: string, shape: readonly number[]) => ({ [name]: int32(shape) });
  const disposed = int32([2]);
  disposed.dispose();
  return [
    [
      "positions and cuSeqlens",
      { ...of("positions", [2]), ...of("cuSeqlens", [2]) },
      "ERR_VALUE expected positions or cuSeqlens, got both",
    ],
    ...[[], [1], [3], [2, 1], [1, 2]].map((shape): [string, object, string] => [
      `positions of shape [${shape.join(", ")}]`,
      of("positions", shape),
      `ERR_SHAPE expected positions of shape [2], got [${shape.join(", ")}]`,
    ]),
    ...[[], [0], [2, 1]].map((shape): [string, object, string] => [
      `cuSeqlens of shape [${shape.join(", ")}]`,
      of("cuSeqlens", shape),
      "ERR_SHAPE expected cuSeqlens of 1 dimension, [sequences + 1], " +
        `got shape [${shape.join(", ")}]`,
    ]),
    ...["positions", "cuSeqlens"].flatMap((name): [string, object, string][] => [
      [
        `${name} of float32`,
        { [name]: ones([2], { device }) },
        `ERR_DTYPE expected ${name} of dtype int32 or int64, got float32`,
      ],
      [`${name} that are disposed`, { [name]: disposed }, `ERR_DISPOSED ${name} has been disposed`],
    ]),
    ...(device === "cpu" ? [] : elsewhere(device)),
  ];
}

function elsewhere(device: Device): [string, object, string][] {
  return ["positions", "cuSeqlens"].map((name) => [
    `${name} on the CPU`,
    { [name]: zeros([2], { dtype: "int32" }) },
    `ERR_DEVICE expected ${name} on ${device}, got cpu`,
  ]);
}

/** In the layouts that have a batch. */
function batched(callee: Callee, device: Device): readonly (readonly [string, object, string])[] {
  const inputs = Object.keys(callee.inputs).filter((name) => !["cos", "sin"].includes(name));
  const outputs = Object.keys(callee.outputs).map((name) => [name, undefined]);
  const spoiled = (layout: "bshd" | "bhsd", shape: readonly number[], options: object) => ({
    ...Object.fromEntries(outputs),
    ...Object.fromEntries(inputs.map((name) => [name, ones(shape, { device })])),
    ...{ layout, ...options },
  });
  const cuSeqlens = zeros([2], { dtype: "int32", device });
  const positions = zeros([2, 3], { dtype: "int64", device });
  return [
    [
      "cuSeqlens beside bshd",
      spoiled("bshd", [1, 2, 2, 8], { cuSeqlens }),
      'ERR_VALUE expected layout "thd" beside cuSeqlens, got "bshd"',
    ],
    [
      "positions of another batch",
      spoiled("bshd", [3, 3, 2, 8], { positions }),
      "ERR_SHAPE expected positions of shape [3, 3] or [3], got [2, 3]",
    ],
    [
      "positions of another seqlen",
      spoiled("bhsd", [2, 3, 2, 8], { positions }),
      "ERR_SHAPE expected positions of shape [2, 2] or [2], got [2, 3]",
    ],
    [
      "a sequence longer than the tables",
      spoiled("bhsd", [1, 2, 17, 8], {}),
      "ERR_VALUE expected offset + seqlen of at most 16, the rows of cos, got 0 + 17",
    ],
    [
      "tables wider than a head",
      spoiled("bshd", [1, 2, 2, 2], { rotaryOffset: undefined }),
      "ERR_VALUE expected rotaryDim of at most 2, the head dim, got 4",
    ],
  ];
}

function ownRefusals(device: Device): Refusal[] {
  return callees.flatMap((callee) => {
    const coded = values.map(
      ([fault, spoiled, error]) => [fault, spoiled, `ERR_VALUE ${error}`] as const,
    );
    const all = [...coded, ...indexRefusals(device), ...batched(callee, device)];
    const indexes = ["positions", "cuSeqlens"].flatMap((name) =>
      kindRefusals(callee, name, "a Tensor", ["undefined"]),
    );
    const own = all.map(([fault, spoiled, error]) => {
      const [code, ...words] = error.split(" ");
      const sentence = `${code} ${callee.op}: ${words.join(" ")}`;
      return { callee, fault, spoil: () => ({ ...spoiled }), error: sentence };
    });
    return [...own, ...indexes];
  });
}

testOptionErrors(callees, ownRefusals);
