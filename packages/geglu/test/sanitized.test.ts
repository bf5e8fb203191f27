// The subset that runs under compute-sanitizer: every kernel instance once or more, at sizes that
// the slowest tool gets through.
import { approximations } from "./reference.js";
import { testSanitized } from "./support.js";

testSanitized(Object.fromEntries(approximations.map((kind) => [kind, { approximate: kind }])));
