// Two copies of this package in one process each have a current stream for the same device, so that
// work which looks ordered is not. It is said once.
const key: unique symbol = Symbol.for("@warpwright/runtime/copies") as never;

interface Copies {
  urls: Set<string>;
  warned: boolean;
}

/** Registers this copy by its address, and warns if there is another. */
export function noteCopy(url: string): void {
  const scope = globalThis as { [key]?: Copies };
  scope[key] ??= { urls: new Set(), warned: false };
  const copies = scope[key];
  copies.urls.add(url);
  if (copies.urls.size < 2 || copies.warned) return;
  copies.warned = true;
  process.emitWarning(
    `@warpwright/runtime is loaded more than once, from ${[...copies.urls].join(" and ")}; ` +
      "install one version that all kernels accept",
    { code: "WARPWRIGHT_COPIES" },
  );
}
