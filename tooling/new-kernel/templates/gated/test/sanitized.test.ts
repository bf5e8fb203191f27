// The subset that runs under compute-sanitizer: every kernel instance once or more, at sizes that
// the slowest tool gets through.
import { testSanitized } from "./support.js";

testSanitized({ "without options": {} });
