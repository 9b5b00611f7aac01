"""The -mcpu values that not every supported compiler knows; platforms/cores.bzl has substitutes."""

PROBED_CPUS = [
    "cortex-m85",  # Since GCC 12.3; Debian 12 has 12.2.
]
