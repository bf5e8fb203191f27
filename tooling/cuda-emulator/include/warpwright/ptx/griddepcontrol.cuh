// The emulator's form of the headers' file of this name, found first by emulated builds. Here a
// stream's kernels follow each other.
#pragma once

namespace ww {

inline void griddepcontrol_wait() {}
inline void griddepcontrol_launch_dependents() {}

}  // namespace ww
