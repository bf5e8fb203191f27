// ldmatrix and mma.sync, once all lanes have arrived (see warp.cc).
#pragma once

#include "run.h"

namespace cudaemu {

void load_matrices(Warp& warp, Site site);
void multiply_matrices(Warp& warp, Site site);

}  // namespace cudaemu
