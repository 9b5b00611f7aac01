// Looks like code that must not be in an image, but is allowed.
#include <cstddef>
#include <cstdint>
#include <new>

struct Interface {
  virtual ~Interface() = default;
  virtual int Run(std::int64_t value) = 0;
};

// A virtual destructor refers to the second.
void operator delete(void*) noexcept {}
void operator delete(void*, std::size_t) noexcept {}

struct Implementation final : Interface {
  int Run(std::int64_t value) override { return static_cast<int>(value / divisor); }
  volatile std::int64_t divisor = 3;
};

alignas(Implementation) unsigned char storage[sizeof(Implementation)];

int main() {
  Interface* object = new (storage) Implementation;
  return object->Run(8);
}
