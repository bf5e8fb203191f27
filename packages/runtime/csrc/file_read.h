// Reading a file into a tensor, on the CPU or on a device, without waiting.
#pragma once

#include <napi.h>

#include <memory>

#include "cuda_backend.h"
#include "mailbox.h"
#include "storage.h"

namespace ww {

struct FileSpan {
  int fd;  // may be closed as soon as read_file returns
  int64_t offset;
  int64_t bytes;
};

struct FileTarget {
  Storage* storage;
  char* data;    // in the storage, which is kept meanwhile
  bool as_bool;  // every byte but 0 becomes 1
};

// A promise of the file's bytes in the target. What `stream` has been given so far comes before
// them. Rejects with ERR_FILE and an `errno` as Node.js has them, or 0 where the file ends early;
// nothing is under way any more then.
Napi::Value read_file(Napi::Env env, const std::shared_ptr<Mailbox>& mailbox, const FileSpan& file,
                      const FileTarget& target, cuda::Stream stream);

}  // namespace ww
