// `using` calls [Symbol.dispose](), but a consumer whose `lib` lacks esnext.disposable has no such
// symbol, and a declaration that named it would not compile there. So the method is declared only
// where the symbol is.
type DisposeSymbol = SymbolConstructor extends { readonly dispose: infer S extends symbol }
  ? S
  : never;

/** An object that `using` accepts, where the consumer's `lib` knows `using`. */
export type DisposableWhereDeclared = { [S in DisposeSymbol]: () => void };

abstract class DisposingImplementation {
  abstract dispose(): void;
}

Object.defineProperty(DisposingImplementation.prototype, Symbol.dispose, {
  value(this: DisposingImplementation): void {
    this.dispose();
  },
  configurable: true,
  writable: true,
});

/** Base of everything with a dispose(): gives it [Symbol.dispose](). */
export const Disposing: abstract new () => DisposableWhereDeclared =
  DisposingImplementation as never;
