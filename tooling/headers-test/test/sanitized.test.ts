// The subset that runs under compute-sanitizer: all that is about memory and barriers. Bad
// launches, which are launch.test.ts's, would be errors to it.
import "./conversions.test.js";
import "./device.test.js";
import "./ptx.test.js";
