"""`board`: describes a board that images can be linked for, in this repository or in yours.

    load("@cmsis_nn_delegate//platforms:board.bzl", "board", "memory", "uart")
    load("@cmsis_nn_delegate//platforms:firmware.bzl", "firmware")

    board(
        name = "my_board",
        core = "cortex-m4",
        clock_hz = 64000000,
        memories = {
            "FLASH": memory(0x08000000, 512 * 1024, wait_states = 3),
            "RAM": memory(0x20000000, 128 * 1024),
        },
        uart = uart("mine", 0x40011000, header = "uart_mine.h"),
    )

    firmware(
        name = "image",
        boards = {":my_board": "cortex_m4"},
        cores = [],
        deps = [":main"],
    )

`bazel build :image_my_board` links the image. No simulator runs it, because `simulators` names none. A build for a
board with an invalid description fails, and the message says why. `bazel build :my_board` writes the linker script
and the description as JSON, which CMake and the simulators read.
"""

load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_common")

BoardInfo = provider(
    doc = "A board that an image can be linked for.",
    fields = {
        "core": "The board's core, as in -mcpu.",
        "description": "JSON file with the whole description.",
        "linker_script": "file",
        "name": "Name of the board.",
    },
)

def memory(origin, size, wait_states = None):
    """A memory of a board.

    Args:
      origin: address.
      size: bytes.
      wait_states: clock cycles of the core that a 32-bit read takes in addition to the first, without cache, buffer or
        contention; None if not known.
    """
    return struct(origin = origin, size = size, wait_states = wait_states)

def uart(type, address, header = None):
    """The UART to which a board writes its output.

    Args:
      type: "cmsdk" or "nrf51", whose drivers are platforms/bsp/uart_<type>.h; or a name for your own.
      address: address of its registers.
      header: label of your own driver, a C header that defines start() and put() like those, and get() as bsp/serial.h
        says if the board is to be controlled over this UART.
    """
    return struct(type = type, address = address, header = header)

def description_of(name, core, clock_hz, memories, uart, simulators):
    """Returns a board as data: platforms/tools/board.py reads it as JSON."""
    return {
        "name": name,
        "core": core,
        "clock_hz": clock_hz,
        "memories": {
            memory: {"origin": m.origin, "size": m.size, "wait_states": m.wait_states}
            for memory, m in memories.items()
        },
        "uart": {"type": uart.type, "address": uart.address},
        "simulators": simulators,
    }

def _impl(ctx):
    name = ctx.label.name
    asked = ctx.actions.declare_file(name + ".given.json")
    description = ctx.actions.declare_file(name + ".json")
    script = ctx.actions.declare_file(name + ".ld")
    ctx.actions.write(asked, ctx.attr.description + "\n")
    arguments = ctx.actions.args()
    arguments.add(asked)
    arguments.add("--tables", ctx.file._tables)
    arguments.add("--template", ctx.file._template)
    arguments.add("--script", script)
    arguments.add("--json", description)
    if ctx.file.uart_header:
        arguments.add("--own-uart")
    ctx.actions.run(
        executable = ctx.executable._tool,
        arguments = [arguments],
        inputs = [asked, ctx.file._tables, ctx.file._template],
        outputs = [description, script],
        mnemonic = "Board",
        progress_message = "Checking board %s" % ctx.label,
        use_default_shell_env = True,
    )
    header = "platforms/bsp/uart_%s.h" % ctx.attr.uart_type
    cc_info = CcInfo()
    if ctx.file.uart_header:
        header = ctx.file.uart_header.basename
        cc_info = CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset([ctx.file.uart_header]),
            quote_includes = depset([ctx.file.uart_header.dirname]),
        ))
    files = [description, script]
    return [
        BoardInfo(core = ctx.attr.core, description = description, linker_script = script, name = name),
        cc_info,
        DefaultInfo(files = depset(files), runfiles = ctx.runfiles(files)),
        # For the `toolchains` of //platforms/bsp.
        platform_common.TemplateVariableInfo({
            "BSP_BOARD": name.replace("_", "-"),
            "BSP_UART_BASE": ctx.attr.uart_address + "u",
            "BSP_UART_HEADER": header,
        }),
    ]

_board = rule(
    implementation = _impl,
    attrs = {
        "core": attr.string(mandatory = True),
        "description": attr.string(mandatory = True),
        "uart_address": attr.string(mandatory = True),  # an attr.int has 31 bits
        "uart_header": attr.label(allow_single_file = [".h"]),
        "uart_type": attr.string(mandatory = True),
        "_tables": attr.label(default = "//platforms:generated_tables", allow_single_file = True),
        "_template": attr.label(default = "//platforms:image.ld.in", allow_single_file = True),
        "_tool": attr.label(default = "//platforms/tools:board", executable = True, cfg = "exec"),
    },
)

def board(name, core, clock_hz, memories, uart, simulators = {}, **kwargs):
    """Declares a board.

    Args:
      name: name of the target and of the board; lower case, digits and "_".
      core: the board's core, as in -mcpu: "cortex-m4".
      clock_hz: frequency of the core and its SysTick.
      memories: name -> memory(). The linker script places
          FLASH    vectors, code, constants, initial values of .data
          RAM      .data, .bss, the arena, the stack
          MAILBOX  the job that a simulator loads; neither initialised nor zeroed. Optional.
        What your code puts into the section .memory.NAME lies in another memory, called NAME. That is neither loaded
        nor zeroed when the image starts:
          alignas(16) __attribute__((section(".memory.SRAM"))) std::uint8_t arena[DIGITS_ARENA_BYTES];
      uart: uart(): where the output goes.
      simulators: names in simulators.bzl -> the settings that each needs, for those that run the board's images:
        {"qemu": {"machine": "mps2-an386"}, "renode": {}}. If empty, images are linked, but no simulator runs them.
      **kwargs: visibility, tags, ...
    """
    _board(
        name = name,
        core = core,
        description = json.encode(description_of(name, core, clock_hz, memories, uart, simulators)),
        uart_address = "%d" % uart.address,
        uart_header = uart.header,
        uart_type = uart.type,
        **kwargs
    )
