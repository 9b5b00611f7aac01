"""`host_genrule`: a genrule whose command runs once, however many platforms its outputs are for.

    host_genrule(
        name = "table",
        outs = ["table.h"],
        cmd = "$(execpath :make_table) $(OUTS)",
        tools = [":make_table"],
    )

A genrule runs again for each platform that it is built for: for 7 cores, 7 times. Where its outputs are the
same for all, because a slow program computes them on the host, use this instead.
"""

def host_genrule(name, outs, cmd, visibility = None, target_compatible_with = None, tags = [], testonly = None, **kwargs):
    """Declares a genrule. `srcs` and `tools` are built for the host, a select() in them is resolved for it.

    Args:
      name: of the target.
      outs: the files, as a genrule has them.
      cmd: knows where to write by $(OUTS), $@ or $(RULEDIR), not by $(execpath).
      visibility: of the target and of `outs`.
      target_compatible_with: of the target.
      tags: of the target.
      testonly: of the target.
      **kwargs: of the genrule that runs the command.
    """
    made = name + "_on_host"
    native.genrule(
        name = made,
        outs = ["%s/%s" % (made, out) for out in outs],
        cmd = cmd.replace("$(RULEDIR)", "$(RULEDIR)/" + made),
        # Built by what needs it: `bazel build //...` would make it for the platform that is built as well.
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
