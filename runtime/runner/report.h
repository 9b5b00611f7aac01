// Writes the report of a runner: lines of key=value on the board's UART.
//
//   Line("EXEC").field("set", 0u).field("ticks", ticks);
//
// prints "##EXEC set=0 ticks=123\n". aot/cmsis_nn_delegate/runner/result.py reads the lines.
// Without a buffer or printf: a line is written piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cmsis_nn_delegate::runner {

class Line {
 public:
  explicit Line(const char* kind);
  ~Line();  // ends the line
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  Line& field(const char* key, const char* value);
  Line& field(const char* key, std::uint64_t value);
  /// Eight hexadecimal digits.
  Line& hex_field(const char* key, std::uint32_t value);
  /// Two hexadecimal digits a byte.
  Line& data_field(const char* key, const std::uint8_t* data, std::size_t size);
  /// A space and free text; it must be the last thing on a line.
  Line& text(const char* text);

 private:
  void begin_field(const char* key);
};

}  // namespace cmsis_nn_delegate::runner
