#include "runtime/runner/executorch/format.h"

#include <cstdint>

namespace cmsis_nn_delegate::runner {
namespace {

/// Counts all characters and keeps those that fit.
class Buffer {
 public:
  Buffer(char* data, std::size_t size) : data_(data), size_(size) {}

  void put(char c) {
    if (length_ + 1 < size_) {
      data_[length_] = c;
    }
    ++length_;
  }

  void put(const char* text) {
    for (; *text != '\0'; ++text) {
      put(*text);
    }
  }

  void put(unsigned long value, unsigned base) {
    char digits[20];
    std::size_t count = 0;
    do {
      digits[count++] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    while (count != 0) {
      put(digits[--count]);
    }
  }

  int end() {
    if (size_ != 0) {
      data_[length_ < size_ ? length_ : size_ - 1] = '\0';
    }
    return static_cast<int>(length_);
  }

 private:
  char* data_;
  std::size_t size_;
  std::size_t length_ = 0;
};

}  // namespace

int format(char* buffer, std::size_t size, const char* text, std::va_list arguments) {
  Buffer out(buffer, size);
  for (const char* at = text; *at != '\0'; ++at) {
    if (*at != '%') {
      out.put(*at);
      continue;
    }
    const char* conversion = at + 1;
    bool is_long = false;
    for (; *conversion == 'l' || *conversion == 'z' || *conversion == 'h'; ++conversion) {
      is_long = is_long || *conversion != 'h';
    }
    switch (*conversion) {
      case '%':
        out.put('%');
        break;
      case 'c':
        out.put(static_cast<char>(va_arg(arguments, int)));
        break;
      case 's':
        out.put(va_arg(arguments, const char*));
        break;
      case 'd': {
        const long value = is_long ? va_arg(arguments, long) : va_arg(arguments, int);
        if (value < 0) {
          out.put('-');
        }
        out.put(value < 0 ? 0ul - static_cast<unsigned long>(value) : value, 10);
        break;
      }
      case 'u':
      case 'x':
        out.put(is_long ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned),
                *conversion == 'u' ? 10 : 16);
        break;
      default:
        out.put(at);
        return out.end();
    }
    at = conversion;
  }
  return out.end();
}

}  // namespace cmsis_nn_delegate::runner
