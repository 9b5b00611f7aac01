// Contains everything that must not be in an image.
#include <cstdlib>

struct Guard {
  ~Guard();
  int value = 1;
};
Guard::~Guard() { value = 0; }

int* volatile kept;

// Destroys a Guard if `call` throws.
int call_through(int (*call)(int), int argument) {
  Guard guard;
  try {
    return call(argument) + guard.value;
  } catch (...) {
    return 0;
  }
}

int allocate(int size) {
  if (size < 0) {
    throw size;
  }
  kept = new int(size);
  void* block = std::malloc(static_cast<std::size_t>(size));
  std::free(block);
  return block != nullptr;
}

int main() { return call_through(allocate, *kept); }
