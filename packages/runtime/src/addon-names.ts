/** What a package's addon is called. */
export interface AddonNames {
  /** The addon's own name, which is that of its file. */
  short: string;
  packageName: string;
  /** The environment variable that names another file to load. */
  variable: string;
}

/** @param name the kernel's name; the package is @warpwright/<name>, unless the name has a slash */
export function addonNames(name: string): AddonNames {
  const short = name.slice(name.lastIndexOf("/") + 1);
  const packageName = name.includes("/") ? name : `@warpwright/${name}`;
  const upperName = short.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_");
  return { short, packageName, variable: `WARPWRIGHT_${upperName}_NATIVE_PATH` };
}

/** The folder below prebuilds/ whose addons this process loads. */
export function platformName(): string {
  return `${process.platform}-${process.arch}`;
}

/** The command that builds packages on this machine. */
export function buildCommand(packageName: string): string {
  return `npx @warpwright/runtime build ${packageName}`;
}
