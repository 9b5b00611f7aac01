// A runner that is controlled over its board's UART: link this with any runner, //runtime/runner/standalone say.
//
// Before main(), it takes the job into the mailbox; what the runner reports goes to the other end in frames, and the end
// of the run resets the board, which then waits for the next job. So nothing of the runner has to be written for this.
// The mailbox survives the reset on most boards, and the other end sends only what differs.
//
// Both ends say one thing at a time and wait for the answer. Only the other end has timeouts: it repeats what it said.
// While the board computes, it reads nothing, and what comes then may be lost.
// Requests before a run, which may be repeated as often as needed, and the answers, which have the request's sequence:
//   'h'                            'H' protocol, bytes of the mailbox, core, instruction set, board: lines of key=value
//   'c' offset, size               'C' CRC-32 of that part of the mailbox
//   'w' offset, bytes              'W' offset
//   's' size, CRC-32 of the job    'S', and the run begins; or 'N' and the reason, if the mailbox has something else
//   'a', 'p'                       'I': there is no run, because the board was reset in its middle
// During a run this end says, with a sequence that counts up, and repeats it if it gets anything else, such as 'p':
//   'R' a part of the report       'a'
//   'E' exit code                  'a'
// 'x' instead of 'a' ends the run at once. Numbers have 32 bits and are little-endian.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "platforms/bsp/bsp.h"
#include "platforms/bsp/serial.h"
#include "runtime/payload/crc32.h"
#include "runtime/runner/serial/frame.h"

namespace cmsis_nn_delegate::runner::serial {
namespace {

constexpr char kProtocol[] = "1";

// Short, as they cannot become shorter where the line is bad.
constexpr std::size_t kReportData = 256;

FrameReader reader;
std::uint8_t report[kReportData];
std::size_t report_size;
std::uint8_t sequence;

void send(const Frame& frame) {
  write_frame(frame, [](std::uint8_t byte) { bsp_serial_write(&byte, 1); });
}

const Frame& receive() {
  for (;;) {
    const int byte = bsp_serial_read();
    if (byte >= 0 && reader.take(static_cast<std::uint8_t>(byte))) {
      return reader.frame();
    }
  }
}

std::size_t mailbox_bytes() { return static_cast<std::size_t>(__mailbox_end - __mailbox_start); }

/// Returns the number at `index` of the data of a request that is long enough.
std::uint32_t number(const Frame& request, std::size_t index) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < sizeof(value); ++i) {
    value |= std::uint32_t{request.data[4 * index + i]} << (8 * i);
  }
  return value;
}

void answer(const Frame& request, char type, const void* data, std::size_t size) {
  send({static_cast<std::uint8_t>(type), request.sequence, static_cast<const std::uint8_t*>(data),
        size});
}

void answer_number(const Frame& request, char type, std::uint32_t value) {
  std::uint8_t bytes[sizeof(value)];
  for (std::size_t i = 0; i < sizeof(value); ++i) {
    bytes[i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
  answer(request, type, bytes, sizeof(bytes));
}

void refuse(const Frame& request, const char* reason) {
  answer(request, 'N', reason, std::strlen(reason));
}

/// A text of at most kSize bytes; what does not fit is left out.
class Text {
 public:
  Text& add(const char* text) {
    for (; *text != '\0' && size_ < kSize; ++text) {
      bytes_[size_++] = *text;
    }
    return *this;
  }
  Text& add(std::size_t value) {
    char digits[11];
    std::size_t at = sizeof(digits) - 1;
    digits[at] = '\0';
    do {
      digits[--at] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    return add(digits + at);
  }
  const char* data() const { return bytes_; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kSize = 200;
  char bytes_[kSize];
  std::size_t size_ = 0;
};

void say_hello(const Frame& request) {
  Text text;
  // The name of the board, which may be long, is last.
  text.add("protocol=").add(kProtocol).add("\nmailbox=").add(mailbox_bytes());
  text.add("\ncore=").add(bsp_core).add("\nisa=").add(bsp_isa).add("\nboard=").add(bsp_board);
  answer(request, 'H', text.data(), text.size());
}

/// Returns whether `size` bytes at `offset` lie in the mailbox.
bool in_mailbox(std::uint32_t offset, std::uint32_t size) {
  return offset <= mailbox_bytes() && size <= mailbox_bytes() - offset;
}

/// Answers requests until there is a job.
void take_job() {
  for (;;) {
    const Frame& request = receive();
    switch (request.type) {
      case 'h':
        say_hello(request);
        break;
      case 'c':
        if (request.size == 8 && in_mailbox(number(request, 0), number(request, 1))) {
          answer_number(request, 'C',
                        crc32(__mailbox_start + number(request, 0), number(request, 1)));
        } else {
          refuse(request, "no such part of the mailbox");
        }
        break;
      case 'w':
        if (request.size >= 4 &&
            in_mailbox(number(request, 0), static_cast<std::uint32_t>(request.size - 4))) {
          std::memcpy(__mailbox_start + number(request, 0), request.data + 4, request.size - 4);
          answer_number(request, 'W', number(request, 0));
        } else {
          refuse(request, "no such part of the mailbox");
        }
        break;
      case 's':
        if (request.size == 8 && in_mailbox(0, number(request, 0)) &&
            crc32(__mailbox_start, number(request, 0)) == number(request, 1)) {
          answer(request, 'S', nullptr, 0);
          return;
        }
        refuse(request, "the mailbox has another job");
        break;
      case 'a':
      case 'p':
        answer(request, 'I', nullptr, 0);
        break;
      default:
        break;
    }
  }
}

/// Sends a part of the report or the end, and returns when the other end has it.
void deliver(char type, const std::uint8_t* data, std::size_t size) {
  for (;;) {
    send({static_cast<std::uint8_t>(type), sequence, data, size});
    const Frame& got = receive();
    if (got.type == 'x') {
      bsp_restart();
    }
    if (got.type == 'a' && got.sequence == sequence) {
      ++sequence;
      return;
    }
  }
}

void flush() {
  if (report_size != 0) {
    const std::size_t size = report_size;
    report_size = 0;  // before a fault while it is delivered adds to it
    deliver('R', report, size);
  }
}

// A constructor, because the runner's main() takes the job that is there.
[[gnu::constructor]] void begin() { take_job(); }

}  // namespace
}  // namespace cmsis_nn_delegate::runner::serial

using namespace cmsis_nn_delegate::runner::serial;

void bsp_write(const char* data, std::size_t size) {
  if (report_size >= sizeof(report)) {
    report_size = 0;  // after a fault before .bss was zeroed
  }
  for (std::size_t i = 0; i < size; ++i) {
    report[report_size++] = static_cast<std::uint8_t>(data[i]);
    if (report_size == sizeof(report)) {
      flush();
    }
  }
}

void bsp_exit(int code) {
  flush();
  const auto byte = static_cast<std::uint8_t>(code);
  deliver('E', &byte, 1);
  bsp_restart();
}
