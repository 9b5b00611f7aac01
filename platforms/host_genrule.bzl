"""`host_genrule`: a genrule whose command runs once, however many platforms its outputs are for.

    host_genrule(
        name = "table",
        outs = ["table.h"],
        cmd = "$(execpath :make_table) $(OUTS)",
        tools = [":make_table"],
    )

A genrule runs again for each platform that it is built for: 7 times for 7 cores. Use this rule instead if a slow
program computes the outputs on the host and they are the same for all platforms.
"""

def host_genrule(name, outs, cmd, visibility = None, target_compatible_with = None, tags = [], testonly = None, **kwargs):
    """Declares a genrule. `srcs` and `tools` are built for the host; a select() in them is resolved for the host.

    Args:
      name: name of the target.
      outs: the output files, as in a genrule.
      cmd: the command; it refers to its outputs with $(OUTS), $@ or $(RULEDIR), not with $(execpath).
      visibility: visibility of the target and of `outs`.
      target_compatible_with: as for any target.
      tags: tags of the target.
      testonly: testonly of the target.
      **kwargs: further arguments of the genrule that runs the command.
    """
    made = name + "_on_host"
    native.genrule(
        name = made,
        outs = ["%s/%s" % (made, out) for out in outs],
        cmd = cmd.replace("$(RULEDIR)", "$(RULEDIR)/" + made),
        # Built only for targets that need it: `bazel build //...` would also build it for the target platform.
        tags = tags + ["manual"],
        testonly = testonly,
        visibility = ["//visibility:private"],
        **kwargs
    )
    native.genrule(
        name = name,
        outs = outs,
        cmd = " && ".join([
            "cp $(execpath {made}/{out}) $(execpath {out})".format(made = made, out = out)
            for out in outs
        ]),
        tags = tags,
        target_compatible_with = target_compatible_with,
        testonly = testonly,
        # `tools` is the one attribute of a genrule whose targets have the configuration of the host, the
        # same for all platforms. A rule with cfg = "exec" would not do: up to Bazel 6 that configuration
        # remembers from which platform it was entered.
        tools = ["%s/%s" % (made, out) for out in outs],
        visibility = visibility,
    )
