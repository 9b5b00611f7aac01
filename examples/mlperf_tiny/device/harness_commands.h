// What harness.cc and the file with the commands of one kind of benchmark, harness_infer.cc or harness_stream.cc,
// know of each other.
#pragma once

#include <cstddef>

namespace mlperf_tiny {

/// The words of a command, one after the other.
class Words {
 public:
  explicit Words(char* text) : rest_(text) {}

  /// Returns the next one, or nullptr after the last.
  const char* next() {
    while (*rest_ == ' ') {
      ++rest_;
    }
    if (*rest_ == '\0') {
      return nullptr;
    }
    const char* word = rest_;
    while (*rest_ != ' ' && *rest_ != '\0') {
      ++rest_;
    }
    if (*rest_ == ' ') {
      *rest_++ = '\0';
    }
    return word;
  }

 private:
  char* rest_;
};

/// Reads a decimal number of at most nine digits. Returns false if `text` is none.
inline bool read(const char* text, unsigned& number) {
  number = 0;
  std::size_t digits = 0;
  for (; text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    number = 10 * number + static_cast<unsigned>(text[digits] - '0');
  }
  return digits > 0 && digits < 10 && text[digits] == '\0';
}

/// Answers one of the commands below, without the last line. Returns false if `name` is none of them.
bool answer(const char* name, Words& words);

/// The names of these commands, with a space before each.
extern const char kCommands[];

/// Whether a command is repeated before its answer, and each part of an input answered with how much of it has come.
extern const bool kVerbose;

}  // namespace mlperf_tiny
