// A kernel's name in each of the ways in which files spell it.
import { Failure } from "../scripts/lib.mjs";

/** What the templates are called, which every file of theirs says in place of the kernel's name. */
export const templateName = "new-kernel";

const pattern = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const longest = 40;

// Words of JavaScript and C++ that no function or file may have, and names of npm's.
const reserved = new Set(
  [
    "alignas alignof and arguments as asm async auto await bool break case catch char class",
    "const constexpr continue debugger default delete do double else enum eval explicit",
    "export extends extern false finally float for friend from function get goto if",
    "implements import in inline instanceof int interface let long mutable namespace native",
    "new node not null of operator or package private protected public register return set",
    "short signed sizeof static struct super switch template this throw true try type typedef",
    "typeof undefined union unsigned using var virtual void volatile while with xor yield",
  ].flatMap((line) => line.split(" ")),
);

/** Throws a Failure, one sentence, unless a kernel can be called that. */
export function checkName(name) {
  if (typeof name !== "string" || !pattern.test(name) || name.length > longest) {
    const wanted = `lower-case words with hyphens between them, at most ${longest} characters`;
    throw new Failure(`expected a name of ${wanted}, got ${JSON.stringify(name)}`);
  }
  if (reserved.has(name)) {
    throw new Failure(`${name} is a word of JavaScript's or C++'s; expected another name`);
  }
}

/** The name as npm, C++ files, functions and types have it. */
export function spellingsOf(name) {
  const words = name.split("-");
  const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);
  const pascal = words.map(capital).join("");
  return {
    kebab: name,
    snake: words.join("_"),
    camel: words[0] + words.slice(1).map(capital).join(""),
    pascal,
  };
}

/** The text, written for the templates' name, with the name in all its spellings. */
export function renamed(text, name) {
  const [from, to] = [spellingsOf(templateName), spellingsOf(name)];
  return Object.keys(from).reduce(
    (result, spelling) => result.replaceAll(from[spelling], to[spelling]),
    text,
  );
}
