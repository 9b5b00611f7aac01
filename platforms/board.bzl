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

load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_library")

# Of the board support. Otherwise GCC turns its loops into calls of memcpy, memset and strlen.
BSP_COPTS = [
    "-ffreestanding",
    "-fno-tree-loop-distribute-patterns",
]

BoardInfo = provider(
    doc = "A board that an image can be linked for.",
    fields = {
        "code": "CcInfo of the board's own code: UART, start-up, name.",
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
      type: one of UARTS in boards.bzl, whose drivers are platforms/bsp/uart_<type>.h; or a name for your own.
      address: address of its registers.
      header: label of your own driver, a C header that defines start() and put() like those, and get() as bsp/serial.h
        says if the board is to be controlled over this UART.
    """
    return struct(type = type, address = address, header = header)

def description_of(name, core, clock_hz, memories, uart, simulators, start = None):
    """Returns a board as data: platforms/tools/board.py reads it as JSON."""
    description = {
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
    if start:
        description["start"] = start
    return description

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
    if ctx.attr.own_uart:
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
    files = [description, script]
    return [
        BoardInfo(
            code = ctx.attr.code[CcInfo],
            core = ctx.attr.core,
            description = description,
            linker_script = script,
            name = name,
        ),
        DefaultInfo(files = depset(files), runfiles = ctx.runfiles(files)),
    ]

_board = rule(
    implementation = _impl,
    attrs = {
        "code": attr.label(mandatory = True, providers = [CcInfo]),
        "core": attr.string(mandatory = True),
        "description": attr.string(mandatory = True),
        "own_uart": attr.bool(),
        "_tables": attr.label(default = "//platforms:generated_tables", allow_single_file = True),
        "_template": attr.label(default = "//platforms:image.ld.in", allow_single_file = True),
        "_tool": attr.label(default = "//platforms/tools:board", executable = True, cfg = "exec"),
    },
)

def _uart_header_impl(ctx):
    return [platform_common.TemplateVariableInfo({"BSP_UART_HEADER": ctx.file.header.path})]

# Not every supported Bazel knows $(execpath) in defines.
_uart_header = rule(
    implementation = _uart_header_impl,
    attrs = {"header": attr.label(allow_single_file = [".h"], mandatory = True)},
)

def board(name, core, clock_hz, memories, uart, simulators = {}, start = None, **kwargs):
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
      start: label of the board's own start-up code, C sources that define bsp_reset() as platforms/bsp/internal.h says:
        clocks, caches, and the pins and speed of the UART. Without it, an image starts with the clock that the core has
        after reset.
      **kwargs: visibility, tags, ...
    """
    code = name + "_code"
    header = "platforms/bsp/uart_%s.h" % uart.type
    toolchains = []
    if uart.header:
        _uart_header(name = name + "_uart_header", header = uart.header)
        header = "$(BSP_UART_HEADER)"
        toolchains = [":%s_uart_header" % name]

    # Compiled with the core's flags for each image's core, but once for all images of it.
    cc_library(
        name = code,
        srcs = [str(Label("//platforms/bsp:board_srcs"))] + ([start] if start else []) + ([uart.header] if uart.header else []),
        copts = BSP_COPTS,
        local_defines = [
            "BSP_BOARD=\\\"%s\\\"" % name.replace("_", "-"),
            "BSP_CLOCK_HZ=%du" % clock_hz,
            "BSP_UART_BASE=%du" % uart.address,
            "BSP_UART_HEADER=\\\"%s\\\"" % header,
        ],
        # Not compiled for the host with everything else; the board only passes it on.
        tags = ["manual"],
        toolchains = toolchains,
        deps = [str(Label("//platforms/bsp:internal"))],
        alwayslink = True,
    )
    _board(
        name = name,
        code = ":" + code,
        core = core,
        description = json.encode(description_of(name, core, clock_hz, memories, uart, simulators)),
        own_uart = bool(uart.header),
        **kwargs
    )
