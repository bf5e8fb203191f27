#pragma once

#include "attention.h"

namespace ww {

// attention_fwd of float32 inputs. The params have been found valid, and there are queries.
cudaError_t attention_f32_fwd(const AttentionParams& params, cudaStream_t stream);

}  // namespace ww
