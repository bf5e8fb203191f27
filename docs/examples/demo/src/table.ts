/** Aligned columns under their heads; what looks like a number is set flush right. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => row[column]!.length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => {
        const width = widths[column]!;
        return isNumber(rows[0]?.[column] ?? "") ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  return [line(heads), rule, ...rows.map(line)].join("\n");
}

function isNumber(text: string): boolean {
  return text !== "" && Number.isFinite(Number(text));
}
