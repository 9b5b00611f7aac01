// What the benchmark's own harness asks of a device besides device_api.h: link this file with its
// api/internally_implemented.cpp and main.cpp, in the place of harness.cc and harness_infer.cc. They are compiled with
// -DTH_MODEL_VERSION=EE_MODEL_VERSION_KWS01, or that of the other benchmark, and the folder of `api` as an include path.
#include <cstddef>

/// Of the harness: answers a command.
void ee_serial_command_parser_callback(char* command);

/// Called with each command that has come as a whole.
void th_command_ready(char volatile* message) {
  ee_serial_command_parser_callback(const_cast<char*>(message));
}

std::size_t th_strnlen(const char* text, std::size_t most) {
  std::size_t size = 0;
  while (size < most && text[size] != '\0') {
    ++size;
  }
  return size;
}
