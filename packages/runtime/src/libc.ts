/** What static CUDA, which is in every addon that has CUDA, needs of the system. */
export const neededGlibc = "2.34";

export interface Libc {
  /** null where there is neither, as on macOS. */
  family: "glibc" | "musl" | null;
  version: string | null;
}

/** The C library that this process runs on. */
export function findLibc(): Libc {
  if (process.platform !== "linux") return { family: null, version: null };
  const version = glibcVersion();
  return version === undefined ? { family: "musl", version: null } : { family: "glibc", version };
}

/** Node's report is where it says so; without the switch it would look up every host name. */
function glibcVersion(): string | undefined {
  const report = process.report as ReportWithSwitch;
  const before = report.excludeNetwork;
  report.excludeNetwork = true;
  try {
    const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } };
    return header?.glibcVersionRuntime;
  } finally {
    report.excludeNetwork = before;
  }
}

interface ReportWithSwitch {
  excludeNetwork?: boolean | undefined; // Node 20.13 and newer
  getReport(): object;
}

/** "glibc 2.36 found, 2.34 or later needed"; empty off Linux. */
export function describeLibc({ family, version }: Libc = findLibc()): string {
  if (family === null) return "";
  if (family === "musl") return `musl found, glibc ${neededGlibc} or later needed`;
  return `glibc ${version} found, ${neededGlibc} or later needed`;
}
