// Sizes, offsets and strides of a call, which arrive as one Float64Array of element counts: exact
// to 2^53, and cheaper to read than as many arguments.
#pragma once

#include <napi.h>

#include <string>

#include "warpwright/dtype.h"
#include "warpwright/errors.h"
#include "warpwright/handles.h"
#include "warpwright/rows.h"

namespace ww {

// Reads the array front to back. What it hands out has been checked to lie inside its tensor.
class Geometry {
 public:
  Geometry(const Napi::Value& value, const char* op) : env_(value.Env()), op_(op) {
    napi_typedarray_type type;
    void* data = nullptr;
    if (!value.IsTypedArray() ||
        napi_get_typedarray_info(env_, value, &type, &length_, &data, nullptr, nullptr) !=
            napi_ok ||
        type != napi_float64_array)
      throw kind_error(env_, std::string(op) + ": expected the geometry to be a Float64Array");
    values_ = static_cast<const double*>(data);
  }

  // The next count.
  int64_t next() {
    constexpr double kLimit = 9007199254740992.0;  // 2^53
    if (index_ == length_)
      throw value_error(env_, std::string(op_) + ": the geometry is too short");
    const double value = values_[index_++];
    if (!(value >= 0 && value < kLimit) ||
        value != static_cast<double>(static_cast<int64_t>(value)))
      throw value_error(env_, std::string(op_) +
                                  ": expected sizes, offsets and strides to be non-negative "
                                  "integers");
    return static_cast<int64_t>(value);
  }

  // The next count, for a parameter that is an int.
  int count32(const char* name) {
    const int64_t value = next();
    if (value > 0x7fffffff)
      throw value_error(env_, std::string(op_) + ": expected a " + name + " below 2^31");
    return static_cast<int>(value);
  }

  RowGrid row_grid() {
    RowGrid grid{{next(), next(), next()}};
    int64_t num_rows = 0;
    if (__builtin_mul_overflow(grid.sizes[0], grid.sizes[1], &num_rows) ||
        __builtin_mul_overflow(num_rows, grid.sizes[2], &num_rows))
      throw value_error(env_, std::string(op_) + ": the number of rows exceeds 64 bits");
    return grid;
  }

  // A tensor's rows of `row_size` elements: offset, three strides. Zeros for a tensor left out.
  Rows rows(const TensorArg& tensor, Dtype dtype, const RowGrid& grid, int64_t row_size) {
    const int64_t offset = next();
    const Rows rows{nullptr, {next(), next(), next()}};
    if (tensor.handle == nullptr) return rows;
    int64_t end = row_size;
    bool overflow = false;
    for (int i = 0; i < 3; ++i) {
      if (grid.sizes[i] == 0) return rows;
      int64_t reach = 0;
      overflow |= __builtin_mul_overflow(grid.sizes[i] - 1, rows.strides[i], &reach);
      overflow |= __builtin_add_overflow(end, reach, &end);
    }
    if (overflow) throw outside(tensor);
    Rows placed = rows;
    placed.data = span(tensor, dtype, offset, end);
    return placed;
  }

  // The same for a tensor that is written. There are no more elements than it has memory for: a
  // grid that goes over the same ones again and again would keep a kernel busy for ever.
  Rows written_rows(const TensorArg& tensor, Dtype dtype, const RowGrid& grid, int64_t row_size) {
    const Rows rows = this->rows(tensor, dtype, grid, row_size);
    const auto limit = static_cast<int64_t>(tensor.handle->bytes) / dtype_bytes(dtype);
    if (row_size > 0 && grid.num_rows() > limit / row_size) throw outside(tensor);
    return rows;
  }

  // `count` dense elements of a tensor: offset. Null for a tensor left out.
  void* dense(const TensorArg& tensor, Dtype dtype, int64_t count) {
    const int64_t offset = next();
    return tensor.handle == nullptr ? nullptr : span(tensor, dtype, offset, count);
  }

 private:
  // The address of element `offset`, if `count` elements from there are inside the tensor.
  void* span(const TensorArg& tensor, Dtype dtype, int64_t offset, int64_t count) {
    const auto limit = static_cast<int64_t>(tensor.handle->bytes) / dtype_bytes(dtype);
    if (offset > limit || count > limit - offset) throw outside(tensor);
    return static_cast<char*>(tensor.handle->data) + offset * dtype_bytes(dtype);
  }

  Napi::RangeError outside(const TensorArg& tensor) const {
    return shape_error(env_, std::string(op_) + ": " + tensor.name + " reaches outside its memory");
  }

  Napi::Env env_;
  const char* op_;
  const double* values_ = nullptr;
  size_t length_ = 0;
  size_t index_ = 0;
};

}  // namespace ww
