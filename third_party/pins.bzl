"""The pinned third-party sources. The only place that names a revision.

In each entry, `remote` and `commit` say what git fetches; `env` names the environment variable
that replaces the fetch by a local checkout.
"""

PINS = {
    # The commit that ExecuTorch itself pins, so that both can be linked into one image. The AOT
    # side names it as well: aot/cmsis_nn_delegate/format/schema.py.
    "cmsis_nn": {
        "commit": "dbf45dbfcc515421dd6099037d3e2637b90748c8",
        "env": "CMSIS_NN_DIR",
        "remote": "https://github.com/ARM-software/CMSIS-NN.git",
    },
    # Release 1.5.1, as in third_party/python/requirements.lock.
    "executorch": {
        "commit": "3b60683923245cf472b7323426920e15623ba361",
        "env": "EXECUTORCH_DIR",
        "remote": "https://github.com/pytorch/executorch.git",
    },
    # 24.3.25, what ExecuTorch pins. Only the headers are used.
    "flatbuffers": {
        "commit": "595bf0007ab1929570c7671f091313c8fc20644e",
        "env": "FLATBUFFERS_DIR",
        "remote": "https://github.com/google/flatbuffers.git",
    },
    # Tag release-1.12.1. Only for Bazel < 7: MODULE.bazel uses the registry.
    "googletest": {
        "commit": "58d77fa8070e8cec2dc1ed015d66b454c8d78850",
        "env": "GOOGLETEST_DIR",
        "remote": "https://github.com/google/googletest.git",
    },
}
