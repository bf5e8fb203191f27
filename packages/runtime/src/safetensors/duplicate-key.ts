/**
 * A key that some object of a JSON text has twice, or null. JSON.parse keeps the last without a
 * word, so that two readers of one file could see different tensors.
 *
 * @param text valid JSON
 */
export function duplicateKey(text: string): string | null {
  // For each open bracket, the keys so far; null for an array.
  const open: (Set<string> | null)[] = [];
  let expectsKey = false;
  for (let i = 0; i < text.length; i++) {
    switch (text[i]) {
      case "{":
        open.push(new Set());
        expectsKey = true;
        break;
      case "[":
        open.push(null);
        expectsKey = false;
        break;
      case "}":
      case "]":
        open.pop();
        break;
      case ",":
        expectsKey = open.at(-1) !== null;
        break;
      case ":":
        expectsKey = false;
        break;
      case '"': {
        const end = stringEnd(text, i);
        const keys = open.at(-1);
        if (expectsKey && keys) {
          const key = JSON.parse(text.slice(i, end + 1)) as string;
          if (keys.has(key)) return key;
          keys.add(key);
        }
        i = end;
        break;
      }
    }
  }
  return null;
}

/** Position of the quote that closes the string opened at `start`. */
function stringEnd(text: string, start: number): number {
  let end = start + 1;
  while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return end;
}
