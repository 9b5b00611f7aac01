#include "sim/qemu/m4_flash.h"

#include <string.h>

static bool contains(const M4Flash* flash, uint32_t address) {
  for (size_t i = 0; i < flash->range_count; ++i) {
    if (address >= flash->ranges[i].begin && address < flash->ranges[i].end) {
      return true;
    }
  }
  return false;
}

// What a read finds.
typedef enum {
  kHeld,     // the read itself
  kPartial,  // another read of its line
  kMissed,   // not the line
} Found;

// Makes the line of read number `read` the latest of `count`, and fills that read.
static Found look_up(M4FlashCache* cache, size_t count, uint32_t read) {
  const uint32_t reads = M4_FLASH_LINE_BYTES / M4_FLASH_READ_BYTES;
  M4FlashLine line = {read / reads, 0};
  size_t position = 0;
  while (position < count - 1 &&
         (cache->lines[position].filled == 0 || cache->lines[position].number != line.number)) {
    ++position;
  }
  if (cache->lines[position].number == line.number) {
    line.filled = cache->lines[position].filled;
  }
  const unsigned bit = 1u << (read % reads);
  const Found found = (line.filled & bit) != 0 ? kHeld : line.filled != 0 ? kPartial : kMissed;
  line.filled |= bit;
  memmove(&cache->lines[1], &cache->lines[0], position * sizeof(M4FlashLine));
  cache->lines[0] = line;
  return found;
}

static void fetch_read(M4Flash* flash, uint32_t read) {
  if (flash->running && read == flash->fetched) {
    return;
  }
  const bool in_sequence = flash->running && read == flash->fetched + 1;
  flash->running = true;
  flash->fetched = read;
  if (!contains(flash, read * M4_FLASH_READ_BYTES)) {
    return;
  }
  const Found found = look_up(&flash->instructions, M4_FLASH_INSTRUCTION_LINES, read);
  flash->min_waits += found == kMissed && !in_sequence ? M4_FLASH_WAIT_STATES : 0;
  flash->max_waits += found != kHeld ? M4_FLASH_WAIT_STATES : 0;
}

void m4_flash_fetch(M4Flash* flash, uint32_t address, unsigned bytes) {
  fetch_read(flash, address / M4_FLASH_READ_BYTES);
  fetch_read(flash, (address + bytes - 1) / M4_FLASH_READ_BYTES);
}

void m4_flash_load(M4Flash* flash, uint32_t address) {
  if (!contains(flash, address)) {
    return;
  }
  const Found found = look_up(&flash->data, M4_FLASH_DATA_LINES, address / M4_FLASH_READ_BYTES);
  flash->min_waits += found == kMissed ? M4_FLASH_WAIT_STATES : 0;
  flash->max_waits += found != kHeld ? M4_FLASH_WAIT_STATES : 0;
}
