// What the harness asks of a device that hears wake words. listening.cc implements it with audio.h; harness_stream.cc
// calls it.
#pragma once

/// Begins a new signal, of which each hop of 512 samples is computed as soon as it has come, and pulses the pin that
/// says when the device computes. Says so, or that it listens already.
void th_start_streaming();
/// Ends the signal. Prints "target activations:" and, in brackets, the result for the wake word of each inference,
/// from -128 to 127, 16 in a line and 37,500 (20 minutes) at most; or that it does not listen.
void th_stop_streaming();
/// Computes one inference of the 512 samples, int16 and little-endian, that the harness has received,
/// ee_get_buffer(), as the next ones of a signal that began with the image's start or the last th_stop_streaming().
/// Prints "m-features-[...]", 40 numbers, and "m-activations-[...]", the results for the wake word, silence and other
/// sounds, all from -128 to 127; or why there are none.
void th_extract_features_on_chunk();
