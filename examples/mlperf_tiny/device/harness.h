// The part of the harness that the device API uses: benchmark/api/internally_implemented.h of
// https://github.com/mlcommons/tiny, with the same names.
#pragma once

#include <cstddef>
#include <cstdint>

/// Copies the bytes that `db` commands have brought, `max_len` at most, and returns how many.
std::size_t ee_get_buffer(std::uint8_t* buffer, std::size_t max_len);
