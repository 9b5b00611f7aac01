// Runs a network of direct calls once, and prints its outputs for comparison:
//
//   ##DIRECT status=0 arena=16000 bytes=12 data=80ff...
//
// The simulator counts the instructions between the marks: direct_run() alone.
#include "benchmarks/direct/network.h"
#include "platforms/bsp/bsp.h"
#include "platforms/bsp/mark.h"

static void write_text(const char* text) {
  size_t size = 0;
  while (text[size] != '\0') {
    ++size;
  }
  bsp_write(text, size);
}

static void write_number(uint32_t number) {
  char digits[10];
  size_t at = sizeof(digits);
  do {
    digits[--at] = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  bsp_write(digits + at, sizeof(digits) - at);
}

static void write_hex(uint8_t byte) {
  static const char kDigits[] = "0123456789abcdef";
  const char text[2] = {kDigits[byte >> 4], kDigits[byte & 15]};
  bsp_write(text, sizeof(text));
}

int main(void) {
  const DirectNetwork* network = &direct_network;
  for (size_t i = 0; i < network->input_bytes; ++i) {
    network->input[i] = network->image[i];
  }
  MARK_BEGIN();
  const int status = direct_run();
  MARK_END();
  write_text("##DIRECT status=");
  write_number((uint32_t)status);
  write_text(" arena=");
  write_number((uint32_t)network->arena_bytes);
  write_text(" bytes=");
  write_number((uint32_t)network->output_bytes);
  write_text(" data=");
  for (size_t i = 0; i < network->output_bytes; ++i) {
    write_hex((uint8_t)network->output[i]);
  }
  write_text("\n");
  return status == 0 ? 0 : 1;
}
