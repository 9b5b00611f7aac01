"""`boards_json`: cores.bzl and boards.bzl as one JSON file, for the simulator drivers and reports.

    {"cores": {"cortex_m55": {"cpu": ..., "isa": ..., "board": ..., "note": ...}, ...},
     "boards": {"mps3_an547": {"machine": ..., "memories": {"RAM": [origin, size], ...}, "uart": ...,
                               "uart_type": ..., "instructions_per_tick": ..., "qemu_options": [...]}, ...}}
"""

load("//platforms:boards.bzl", "BOARDS")
load("//platforms:cores.bzl", "CORES")

def _impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(output, json.encode({
        "boards": {
            name: {
                "instructions_per_tick": board.instructions_per_tick,
                "machine": board.machine,
                "memories": board.memories,
                "qemu_options": board.qemu_options,
                "uart": board.uart,
                "uart_type": board.uart_type,
            }
            for name, board in BOARDS.items()
        },
        "cores": {
            name: {
                "board": core.board,
                "cpu": core.cpu,
                "isa": core.isa,
                "note": core.note,
            }
            for name, core in CORES.items()
        },
    }) + "\n")
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

boards_json = rule(implementation = _impl)
