"""The archive that RENODE_DOWNLOAD=1 fetches."""

# The stable version. UNVERIFIED: neither the address nor the archive has been tested, and the checksum is not
# known. @renode//:info.bzl has the checksum of the archive that was fetched; enter it here. Cortex-M55 and M85
# need a nightly build of 2026-06-03 or later, which has no permanent address:
# https://builds.renode.io/renode-latest.linux-portable.tar.gz is the newest.
ARCHIVE = struct(
    url = "https://github.com/renode/renode/releases/download/v1.16.1/renode-1.16.1.linux-portable-dotnet.tar.gz",
    sha256 = "",
)
