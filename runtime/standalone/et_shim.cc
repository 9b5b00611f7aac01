// Defines the symbols that ExecuTorch's headers only declare, for an image without ExecuTorch's
// runtime library: backend registry, tensor constructor, abort. Everything else that the delegate
// uses from ExecuTorch is in headers.
//
// Link either this or ExecuTorch's runtime, never both.
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/portable_type/tensor_impl.h>
#include <executorch/runtime/platform/abort.h>

namespace executorch::runtime {

ET_NORETURN void runtime_abort() { abort(); }

BackendInterface::~BackendInterface() = default;

namespace {

// The image has one backend.
Backend registered = {nullptr, nullptr};

}  // namespace

BackendInterface* get_backend_class(const char* name) {
  const bool found = registered.name != nullptr && std::strcmp(registered.name, name) == 0;
  return found ? registered.backend : nullptr;
}

Error register_backend(const Backend& backend) {
  if (registered.name != nullptr) {
    return get_backend_class(backend.name) != nullptr ? Error::InvalidArgument : Error::Internal;
  }
  registered = backend;
  return Error::Ok;
}

namespace etensor {

TensorImpl::TensorImpl(ScalarType type, ssize_t dim, SizesType* sizes, void* data,
                       DimOrderType* dim_order, StridesType* strides, TensorShapeDynamism dynamism,
                       DeviceType device_type, DeviceIndex device_index)
    : sizes_(sizes),
      dim_order_(dim_order),
      strides_(strides),
      data_(data),
      dim_(dim),
      numel_(1),
      numel_bound_(1),
      type_(type),
      shape_dynamism_(dynamism),
      device_(device_type, device_index) {
  for (ssize_t i = 0; i < dim; ++i) {
    numel_ *= sizes[i];
  }
  numel_bound_ = static_cast<std::size_t>(numel_);
}

}  // namespace etensor
}  // namespace executorch::runtime
