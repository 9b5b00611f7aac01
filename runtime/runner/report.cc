#include "runtime/runner/report.h"

#include "platforms/bsp/bsp.h"

namespace cmsis_nn_delegate::runner {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

void write(const char* text) {
  std::size_t length = 0;
  while (text[length] != '\0') {
    ++length;
  }
  bsp_write(text, length);
}

void write_byte(std::uint32_t value) {
  const char digits[2] = {kDigits[(value >> 4) & 15], kDigits[value & 15]};
  bsp_write(digits, sizeof(digits));
}

}  // namespace

Line::Line(const char* kind) {
  write("##");
  write(kind);
}

Line::~Line() { write("\n"); }

void Line::begin_field(const char* key) {
  write(" ");
  write(key);
  write("=");
}

Line& Line::field(const char* key, const char* value) {
  begin_field(key);
  write(value);
  return *this;
}

Line& Line::field(const char* key, std::uint64_t value) {
  begin_field(key);
  char digits[20];
  std::size_t at = sizeof(digits);
  do {
    digits[--at] = kDigits[value % 10];
    value /= 10;
  } while (value != 0);
  bsp_write(digits + at, sizeof(digits) - at);
  return *this;
}

Line& Line::hex_field(const char* key, std::uint32_t value) {
  begin_field(key);
  for (int shift = 24; shift >= 0; shift -= 8) {
    write_byte(value >> shift);
  }
  return *this;
}

Line& Line::data_field(const char* key, const std::uint8_t* data, std::size_t size) {
  begin_field(key);
  for (std::size_t i = 0; i < size; ++i) {
    write_byte(data[i]);
  }
  return *this;
}

Line& Line::text(const char* text) {
  write(" ");
  write(text);
  return *this;
}

}  // namespace cmsis_nn_delegate::runner
