// Stand-in, which knows %x and %02x only.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
void printk(const char* format, ...) __attribute__((format(printf, 1, 2)));
#ifdef __cplusplus
}
#endif
