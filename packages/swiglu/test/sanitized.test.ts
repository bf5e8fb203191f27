// The subset that runs under compute-sanitizer: every kernel instance once or more, at sizes that
// the slowest tool gets through.
import { clamped, testSanitized } from "./support.js";

testSanitized({ plain: {}, clamped });
