// A network as direct calls of CMSIS-NN: generate.py writes the implementation.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Memory of the network. `input` and `output` lie in its arena; all are int8 in NHWC order.
typedef struct {
  const int8_t* image;  // an input, constant
  int8_t* input;        // where direct_run() reads it; may be overwritten
  size_t input_bytes;
  const int8_t* output;  // what direct_run() has written
  size_t output_bytes;
  size_t arena_bytes;
} DirectNetwork;

extern const DirectNetwork direct_network;

/// Runs the network once. Returns 0, or what CMSIS-NN's functions returned, all bits together.
int direct_run(void);
