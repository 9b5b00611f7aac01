"""The command line: `cmsisnn COMMAND`. `command_line.COMMANDS` lists the commands.

Results and progress go to stdout. A failure prints one message to stderr. The exit code is 2 if the
arguments or input files are wrong, and 1 if the model cannot be compiled, a run failed, or results differ.

A command NAME is two modules:

* `NAME_arguments` has `add_arguments(parser)`. It is imported when the command is parsed, for `--help` too, so that it
  imports only what choices, defaults and help texts need.
* `NAME_command` has `run(arguments)`, which returns the exit code. It is imported when the arguments are right, and
  imports what it uses at its top.

`command_line` imports them by these names, and so only those of the chosen command. `late_import` is also how a command
reaches what only some of its runs need: the compiler, because arguments and files are checked before PyTorch is
imported, which takes seconds, and the page of `report --html`.
"""

from .command_line import main as main
