// Moves __shared__ variables of preprocessed C++ into the emulator's arena:
//
//   __shared__ float sums[2][kWarps];
//
// becomes a typedef of the same form, something whose address names the variable (one for each
// instance of a template), and a reference of the variable's name:
//
//   typedef float ww_type_1[2][kWarps]; static const char ww_key_1 = 0;
//   auto& sums = ::cudaemu::shared_ref<ww_type_1>(&ww_key_1, "sums");
//
// Only names are looked for, types are never parsed. Preprocessed, because comments are gone and
// macros expanded by then; lines keep their numbers, so that errors, gdb and reports name the
// original file.

const kToken = new RegExp(
  [
    /R"([^(\s]*)\([\s\S]*?\)\1"/, // raw strings
    /"(?:[^"\\\n]|\\.)*"/,
    /'(?:[^'\\\n]|\\.)*'/,
    /^[ \t]*#[^\n]*/, // line markers
    /\w+/,
    /\s+/,
    /[\s\S]/,
  ]
    .map((each) => each.source)
    .join("|"),
  "gmy",
);

/** @returns {string} the text with every __shared__ declaration replaced */
export function rewriteShared(text, fileName) {
  if (!text.includes("__shared__")) return text;
  const tokens = text.match(kToken);
  const state = { fileName, count: 0 };
  for (let i = 0; i < tokens.length; i++) {
    if (tokens[i] !== "__shared__") continue;
    const begin = statementBegin(tokens, i);
    const end = statementEnd(tokens, i, state);
    requireFunction(tokens, begin, state);
    const statement = tokens.slice(begin, end);
    tokens.splice(begin, end - begin, replace(statement, state));
    i = begin;
  }
  return tokens.join("");
}

function failure(state, what) {
  return new Error(`${state.fileName}: __shared__: ${what}`);
}

const isBlank = (token) => /^\s/.test(token) || isMarker(token);
const isMarker = (token) => /^[ \t]*#/.test(token);
const isName = (token) => /^[A-Za-z_]\w*$/.test(token);

function statementBegin(tokens, at) {
  let begin = at;
  while (begin > 0 && !["{", "}", ";"].includes(tokens[begin - 1])) begin--;
  while (isBlank(tokens[begin])) begin++;
  return begin;
}

/** The index of the semicolon. */
function statementEnd(tokens, at, state) {
  let depth = 0;
  for (let i = at; i < tokens.length; i++) {
    if ("([{".includes(tokens[i])) depth++;
    if (")]}".includes(tokens[i])) depth--;
    if (tokens[i] === ";" && depth === 0) return i;
  }
  throw failure(state, "a declaration without an end");
}

/** What declares a variable at run time has to run, and outside of functions nothing does. */
function requireFunction(tokens, begin, state) {
  let depth = 0;
  for (let i = begin - 1; i >= 0; i--) {
    if (tokens[i] === "}") depth++;
    if (tokens[i] !== "{" || depth-- > 0) continue;
    const before = tokens.slice(Math.max(0, i - 40), i).filter((token) => !isBlank(token));
    const opener = before.slice(lastBoundary(before) + 1);
    if (!opener.some((token) => ["namespace", "extern"].includes(token))) return;
    break;
  }
  throw failure(state, "variables outside of functions are not supported by the emulator");
}

function lastBoundary(tokens) {
  return Math.max(...["{", "}", ";"].map((each) => tokens.lastIndexOf(each)));
}

function replace(statement, state) {
  const newlines = "\n".repeat(statement.join("").split("\n").length - 1);
  if (statement.some(isMarker)) throw failure(state, "a declaration across files");
  const { alignment, rest } = takeAlignment(statement);
  const isDynamic = rest.includes("extern");
  const words = rest.filter((token) => !["__shared__", "extern", "static"].includes(token));
  const declarators = namePositions(words, state);
  let text = "";
  for (const [index, at] of declarators.entries()) {
    const name = words[at];
    const id = ++state.count;
    words[at] = `ww_type_${id}`;
    text += isDynamic
      ? `auto& ${name} = ::cudaemu::dynamic_shared_ref<ww_type_${id}>()`
      : `static const char ww_key_${id} = 0; auto& ${name} = ::cudaemu::shared_ref<` +
        `ww_type_${id}${alignment}>(&ww_key_${id}, "${name}")`;
    if (index < declarators.length - 1) text += "; ";
  }
  return `typedef ${words.join("").replaceAll(/\s+/g, " ").trim()}; ${text}${newlines}`;
}

/** A typedef cannot have the alignment of a variable. */
function takeAlignment(statement) {
  const at = statement.indexOf("alignas");
  if (at < 0) return { alignment: "", rest: statement };
  let end = at + 1;
  while (statement[end] !== "(") end++;
  let depth = 0;
  do {
    if (statement[end] === "(") depth++;
    if (statement[end] === ")") depth--;
    end++;
  } while (depth > 0);
  const value = statement
    .slice(at + 1, end)
    .join("")
    .trim();
  const rest = [...statement.slice(0, at), ...statement.slice(end)];
  return { alignment: `, ${value}`, rest };
}

/** The declarators' names: the last word before the first bracket, comma or end of each. */
function namePositions(words, state) {
  const names = [];
  let depth = 0;
  let angles = 0;
  let last = -1;
  let named = false;
  for (const [i, word] of [...words, ","].entries()) {
    if (word === "<" && depth === 0 && names.length === 0 && !named) angles++;
    if (word === ">" && depth === 0 && angles > 0) angles--;
    if (depth === 0 && angles === 0) {
      if (isName(word)) last = i;
      if ((word === "[" || word === ",") && !named) {
        if (last < 0) throw failure(state, "a declaration without a name");
        names.push(last);
        named = true;
      }
      if (word === "=") throw failure(state, "a variable with an initialiser");
      if (word === ",") {
        named = false;
        last = -1;
      }
    }
    if ("([{".includes(word)) depth++;
    if (")]}".includes(word)) depth--;
  }
  return names;
}
