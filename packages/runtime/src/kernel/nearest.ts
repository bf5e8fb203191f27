// No known word is as long, and the distance takes its time.
const longest = 80;

/** Up to two of the known words that are closest in spelling to the given one. */
export function nearest(word: string, known: readonly string[]): string[] {
  const start = word.slice(0, longest);
  const scored = known.map((candidate) => ({ candidate, score: distance(start, candidate) }));
  scored.sort((a, b) => a.score - b.score);
  const best = scored[0]?.score ?? 0;
  return scored.filter(({ score }, i) => i < 2 && score === best).map(({ candidate }) => candidate);
}

// Levenshtein distance, except that a longer or shorter form of the same word counts as close.
function distance(a: string, b: string): number {
  const [from, to] = [a.toLowerCase(), b.toLowerCase()];
  if (from.startsWith(to) || to.startsWith(from)) return 1;
  let row = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const change = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
