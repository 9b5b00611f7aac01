// The harness that the runner of MLPerf Tiny talks to. A submission has the benchmark's own instead: its
// api/internally_implemented.cpp and main.cpp, with hooks.cc, take the place of this file. This one answers the same
// commands, so that an image can be built and tested without the sources of the benchmark.
//
// A command ends with '%'. All lines of an answer end with "\r\n"; "m-ready" is the last one.
//
//   name                  "m-name-dut-[NAME]"
//   profile               "m-profile-[FIRMWARE]" and "m-model-[MODEL]", by which the runner chooses its script
//   timestamp             "m-lap-us-MICROSECONDS"
//   db load BYTES         begins an input of so many bytes
//   db HEX                brings the next of them; "m-load-done" after the last one
//   db print              shows what has come
//
// harness_infer.cc or harness_stream.cc adds the others.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "examples/mlperf_tiny/device/benchmark.h"
#include "examples/mlperf_tiny/device/device_api.h"
#include "examples/mlperf_tiny/device/harness.h"
#include "examples/mlperf_tiny/device/harness_commands.h"

namespace {

using mlperf_tiny::read;
using mlperf_tiny::Words;

constexpr char kFirmware[] =
    "ULPMark for tinyML Firmware V0.0.1";  // the name that the runner expects
constexpr std::size_t kMaxCommand = 1028;

std::uint8_t input[mlperf_tiny::kMaxInputBytes];
std::size_t expected;
std::size_t received;

char command[kMaxCommand + 1];
std::size_t command_size;

/// Returns the value of a hexadecimal digit, or -1.
int value_of(char digit) {
  if (digit >= '0' && digit <= '9') {
    return digit - '0';
  }
  const char lower = static_cast<char>(digit | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

void begin_input(const char* bytes) {
  unsigned size = 0;
  if (bytes == nullptr || !read(bytes, size) || size == 0) {
    th_printf("e-[Command 'db load' requires the # of bytes]\r\n");
  } else if (size > sizeof(input)) {
    th_printf("e-[Supplied buffer size %u exceeds maximum of %u]\r\n", size,
              static_cast<unsigned>(sizeof(input)));
  } else {
    expected = size;
    received = 0;
    th_printf("m-[Expecting %u bytes]\r\n", size);
  }
}

void add_input(const char* digits) {
  if (std::strlen(digits) % 2 != 0) {
    th_printf("e-[Insufficient number of hex digits]\r\n");
    return;
  }
  for (; *digits != '\0' && received < expected; digits += 2) {
    const int high = value_of(digits[0]);
    const int low = value_of(digits[1]);
    if (high < 0 || low < 0) {
      th_printf("e-[Invalid hex digit '%c%c']\r\n", digits[0], digits[1]);
      return;
    }
    input[received++] = static_cast<std::uint8_t>(16 * high + low);
    if (received == expected) {
      th_printf("m-load-done\r\n");
      return;
    }
  }
  if (mlperf_tiny::kVerbose) {
    th_printf("%u bytes received\r\n", static_cast<unsigned>(received));
  }
}

void print_input() {
  constexpr std::size_t kPerLine = 8;
  for (std::size_t i = 0; i < received; ++i) {
    th_printf(i % kPerLine == 0 ? "m-buffer-%02x" : "-%02x", input[i]);
    if (i % kPerLine == kPerLine - 1 || i + 1 == received) {
      th_printf("\r\n");
    }
  }
}

void change_input(Words& words) {
  const char* word = words.next();
  if (word == nullptr) {
    th_printf("e-[Command 'db' requires a subcommand]\r\n");
  } else if (std::strcmp(word, "load") == 0) {
    begin_input(words.next());
  } else if (std::strcmp(word, "print") == 0) {
    print_input();
  } else {
    add_input(word);
  }
}

void answer(char* text) {
  if (mlperf_tiny::kVerbose) {
    th_printf("Received command: %s\r\n", text);
  }
  Words words(text);
  const char* name = words.next();
  if (name == nullptr) {
    // Nothing was asked.
  } else if (std::strcmp(name, "name") == 0) {
    th_printf("m-name-dut-[cmsis_nn_delegate]\r\n");
  } else if (std::strcmp(name, "profile") == 0) {
    th_printf("m-profile-[%s]\r\n", kFirmware);
    th_printf("m-model-[%s]\r\n", mlperf_tiny::benchmark.model);
  } else if (std::strcmp(name, "timestamp") == 0) {
    th_timestamp();
  } else if (std::strcmp(name, "db") == 0) {
    change_input(words);
  } else if (std::strcmp(name, "help") == 0) {
    th_printf("%s\r\nname profile timestamp db help%s\r\n", kFirmware, mlperf_tiny::kCommands);
  } else if (!mlperf_tiny::answer(name, words)) {
    th_printf("e-[Unknown command: %s]\r\n", name);
  }
  th_printf("m-ready\r\n");
}

}  // namespace

std::size_t ee_get_buffer(std::uint8_t* buffer, std::size_t max_len) {
  const std::size_t size = received < max_len ? received : max_len;
  std::memcpy(buffer, input, size);
  return size;
}

int main() {
  th_serialport_initialize();
  th_timestamp_initialize();
  th_final_initialize();
  th_printf("m-init-done\r\n");
  th_printf("m-ready\r\n");
  for (;;) {
    const char byte = th_getchar();
    if (byte == '%') {
      command[command_size] = '\0';
      answer(command);
      command_size = 0;
    } else if (byte != '\r' && byte != '\n' && command_size < kMaxCommand) {
      command[command_size++] = byte;
    }
  }
}
