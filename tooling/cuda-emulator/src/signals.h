// Invalid addresses that only the processor notices: they end the launch, not the process.
#pragma once

namespace cudaemu {

// For the calling thread of the system. Not under AddressSanitizer, which reports them itself.
void catch_signals();

}  // namespace cudaemu
