// ONNX models of one operator, in the protocol buffer encoding of onnx.proto3 (field numbers are
// that file's), so that no Python and no model file is needed.

const opset = 20;
const irVersion = 9;

/** TensorProto.DataType. */
const elementTypes = { float32: 1, int64: 7 };

function varint(value) {
  const bytes = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    const low = Number(rest & 127n);
    rest >>= 7n;
    bytes.push(rest > 0n ? low | 128 : low);
  } while (rest > 0n);
  return Buffer.from(bytes);
}

const wireTypes = { varint: 0, bytes: 2, float: 5 };
const tag = (field, type) => varint((field << 3) | wireTypes[type]);
const integer = (field, value) => Buffer.concat([tag(field, "varint"), varint(value)]);

function float(field, value) {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([tag(field, "float"), bytes]);
}

/** A string, or a message of the given parts. */
function nested(field, ...parts) {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([tag(field, "bytes"), varint(body.length), body]);
}

/** ValueInfoProto: a tensor whose sizes are named, hence free. */
function valueInfo(field, name, { dtype = "float32", sizes }) {
  const dims = sizes.map((size) => nested(1, nested(2, size)));
  const tensor = nested(1, integer(1, elementTypes[dtype]), nested(2, ...dims));
  return nested(field, nested(1, name), nested(2, tensor));
}

/** AttributeProto; its types are FLOAT = 1, INT = 2, STRING = 3. Integers are given as bigint. */
function attribute(name, value) {
  const parts =
    typeof value === "string"
      ? [nested(4, value), integer(20, 3)]
      : typeof value === "bigint"
        ? [integer(3, value), integer(20, 2)]
        : [float(2, value), integer(20, 1)];
  return nested(5, nested(1, name), ...parts);
}

/**
 * A model whose graph is one node. Inputs and outputs are { name: { dtype?, sizes } }, in the
 * operator's order; an output left out by position is `null`.
 */
export function operatorModel({ operator, domain = "", inputs, outputs, attributes = {} }) {
  const outputNames = outputs.map((output) => output?.name ?? "");
  const node = nested(
    1,
    ...Object.keys(inputs).map((name) => nested(1, name)),
    ...outputNames.map((name) => nested(2, name)),
    nested(4, operator),
    ...Object.entries(attributes).map(([name, value]) => attribute(name, value)),
    nested(7, domain),
  );
  const graph = nested(
    7,
    node,
    nested(2, operator),
    ...Object.entries(inputs).map(([name, info]) => valueInfo(11, name, info)),
    ...outputs.filter((output) => output !== null).map((info) => valueInfo(12, info.name, info)),
  );
  const opsets = [
    nested(8, nested(1, ""), integer(2, opset)),
    nested(8, nested(1, "com.microsoft"), integer(2, 1)),
  ];
  return Buffer.concat([integer(1, irVersion), graph, ...opsets]);
}
