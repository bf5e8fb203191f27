// Events.
#pragma once

#include <memory>
#include <vector>

#include "stream.h"

struct CUevent_st {
  int device;
  bool timed;
  std::shared_ptr<cudaemu::RecordPoint> point{};  // null before the first record
  // Instead, if it was last recorded in a capture: what it stands for there.
  std::shared_ptr<cudaemu::Capture> capture{};
  std::vector<cudaGraphNode_t> dependencies{};
};
