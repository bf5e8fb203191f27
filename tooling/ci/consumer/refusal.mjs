// Prints what the first use of a package says where there is no addon for the platform, although
// the runtime has one.
Object.defineProperty(process, "platform", { value: "sunos" });
try {
  await import(new URL(`compiled/${process.argv[2].split("/").at(-1)}.js`, import.meta.url));
} catch ({ code, message }) {
  console.log(code, message);
}
