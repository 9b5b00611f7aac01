// What the harness of MLPerf Tiny asks of a device: benchmark/api/submitter_implemented.h of
// https://github.com/mlcommons/tiny, with the same names. device.cc and device_serial.cc implement it; harness.cc
// calls it. Streaming wake word has streaming_api.h in the place of the first three functions.
#pragma once

/// Converts the bytes that the harness has received, ee_get_buffer(), to the input of the network. Takes no part of
/// the measured time.
void th_load_tensor();
/// Computes one inference. Does not change the input.
void th_infer();
/// Prints "m-results-[...]", with three decimals for each result, or why there are none.
void th_results();
/// Prints "m-lap-us-N", the microseconds since the device was started.
void th_timestamp(void);
/// Called before and after the inferences of a measurement.
void th_pre();
void th_post();
/// Called once, before anything else. The first one starts what th_printf() needs.
void th_serialport_initialize(void);
void th_timestamp_initialize(void);
void th_final_initialize(void);
/// Understands %s, %c, %d, %u, %lu and %02x.
void th_printf(const char* format, ...);
/// Waits for the next byte.
char th_getchar();
