# Generated from the tables of platforms/ by `./bazelw run //cmake:generate`. Do not edit.

# TARGETS of platforms/cores.bzl
set(CMSIS_NN_DELEGATE_CORES
    "cortex_m0plus"
    "cortex_m0"
    "cortex_m23"
    "cortex_m3"
    "cortex_m4"
    "cortex_m4_nofp"
    "cortex_m7"
    "cortex_m7_nofp"
    "cortex_m33"
    "cortex_m33_nodsp"
    "cortex_m33_nofp"
    "cortex_m33_nodsp_nofp"
    "cortex_m35p"
    "cortex_m35p_nodsp"
    "cortex_m35p_nofp"
    "cortex_m35p_nodsp_nofp"
    "cortex_m55"
    "cortex_m55_nodsp"
    "cortex_m55_nomve"
    "cortex_m55_nomve_fp"
    "cortex_m55_nofp"
    "cortex_m55_nodsp_nofp"
    "cortex_m55_nomve_nofp"
    "cortex_m52"
    "cortex_m52_nodsp"
    "cortex_m52_nomve"
    "cortex_m52_nomve_fp"
    "cortex_m52_nofp"
    "cortex_m52_nodsp_nofp"
    "cortex_m52_nomve_nofp"
    "cortex_m85"
    "cortex_m85_nodsp"
    "cortex_m85_nomve"
    "cortex_m85_nomve_fp"
    "cortex_m85_nofp"
    "cortex_m85_nodsp_nofp"
    "cortex_m85_nomve_nofp"
)

set(CMSIS_NN_DELEGATE_CORE_cortex_m0plus_CPU "cortex-m0plus")
set(CMSIS_NN_DELEGATE_CORE_cortex_m0plus_FLAGS
    "-mcpu=cortex-m0plus"
    "-mfloat-abi=soft"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m0plus_ISA "scalar")
set(CMSIS_NN_DELEGATE_CORE_cortex_m0plus_BOARD "microbit")

set(CMSIS_NN_DELEGATE_CORE_cortex_m0_CPU "cortex-m0")
set(CMSIS_NN_DELEGATE_CORE_cortex_m0_FLAGS
    "-mcpu=cortex-m0"
    "-mfloat-abi=soft"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m0_ISA "scalar")
set(CMSIS_NN_DELEGATE_CORE_cortex_m0_BOARD "microbit")

set(CMSIS_NN_DELEGATE_CORE_cortex_m23_CPU "cortex-m23")
set(CMSIS_NN_DELEGATE_CORE_cortex_m23_FLAGS
    "-mcpu=cortex-m23"
    "-mfloat-abi=soft"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m23_ISA "scalar")
set(CMSIS_NN_DELEGATE_CORE_cortex_m23_BOARD "mps2_an505")

set(CMSIS_NN_DELEGATE_CORE_cortex_m3_CPU "cortex-m3")
set(CMSIS_NN_DELEGATE_CORE_cortex_m3_FLAGS
    "-mcpu=cortex-m3"
    "-mfloat-abi=soft"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m3_ISA "scalar")
set(CMSIS_NN_DELEGATE_CORE_cortex_m3_BOARD "mps2_an385")

set(CMSIS_NN_DELEGATE_CORE_cortex_m4_CPU "cortex-m4")
set(CMSIS_NN_DELEGATE_CORE_cortex_m4_FLAGS
    "-mcpu=cortex-m4"
    "-mfloat-abi=hard"
    "-mfpu=fpv4-sp-d16"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m4_ISA "dsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m4_BOARD "mps2_an386")

set(CMSIS_NN_DELEGATE_CORE_cortex_m4_nofp_CPU "cortex-m4+nofp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m4_nofp_FLAGS
    "-mcpu=cortex-m4+nofp"
    "-mfloat-abi=soft"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m4_nofp_ISA "dsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m4_nofp_BOARD "mps2_an386")

set(CMSIS_NN_DELEGATE_CORE_cortex_m7_CPU "cortex-m7")
set(CMSIS_NN_DELEGATE_CORE_cortex_m7_FLAGS
    "-mcpu=cortex-m7"
    "-mfloat-abi=hard"
    "-mfpu=fpv5-sp-d16"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m7_ISA "dsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m7_BOARD "mps2_an500")

set(CMSIS_NN_DELEGATE_CORE_cortex_m7_nofp_CPU "cortex-m7+nofp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m7_nofp_FLAGS
    "-mcpu=cortex-m7+nofp"
    "-mfloat-abi=soft"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m7_nofp_ISA "dsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m7_nofp_BOARD "mps2_an500")

set(CMSIS_NN_DELEGATE_CORE_cortex_m33_CPU "cortex-m33")
set(CMSIS_NN_DELEGATE_CORE_cortex_m33_FLAGS
    "-mcpu=cortex-m33"
    "-mfloat-abi=hard"
    "-mfpu=fpv5-sp-d16"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m33_ISA "dsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m33_BOARD "mps2_an505")

set(CMSIS_NN_DELEGATE_CORE_cortex_m33_nodsp_CPU "cortex-m33+nodsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m33_nodsp_FLAGS
    "-mcpu=cortex-m33+nodsp"
    "-mfloat-abi=hard"
    "-mfpu=fpv5-sp-d16"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m33_nodsp_ISA "scalar")
set(CMSIS_NN_DELEGATE_CORE_cortex_m33_nodsp_BOARD "mps2_an505")

set(CMSIS_NN_DELEGATE_CORE_cortex_m33_nofp_CPU "cortex-m33+nofp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m33_nofp_FLAGS
    "-mcpu=cortex-m33+nofp"
    "-mfloat-abi=soft"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m33_nofp_ISA "dsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m33_nofp_BOARD "mps2_an505")

set(CMSIS_NN_DELEGATE_CORE_cortex_m33_nodsp_nofp_CPU "cortex-m33+nodsp+nofp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m33_nodsp_nofp_FLAGS
    "-mcpu=cortex-m33+nodsp+nofp"
    "-mfloat-abi=soft"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m33_nodsp_nofp_ISA "scalar")
set(CMSIS_NN_DELEGATE_CORE_cortex_m33_nodsp_nofp_BOARD "mps2_an505")

set(CMSIS_NN_DELEGATE_CORE_cortex_m35p_CPU "cortex-m35p")
set(CMSIS_NN_DELEGATE_CORE_cortex_m35p_FLAGS
    "-mcpu=cortex-m35p"
    "-mfloat-abi=hard"
    "-mfpu=fpv5-sp-d16"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m35p_ISA "dsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m35p_BOARD "mps2_an505")

set(CMSIS_NN_DELEGATE_CORE_cortex_m35p_nodsp_CPU "cortex-m35p+nodsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m35p_nodsp_FLAGS
    "-mcpu=cortex-m35p+nodsp"
    "-mfloat-abi=hard"
    "-mfpu=fpv5-sp-d16"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m35p_nodsp_ISA "scalar")
set(CMSIS_NN_DELEGATE_CORE_cortex_m35p_nodsp_BOARD "mps2_an505")

set(CMSIS_NN_DELEGATE_CORE_cortex_m35p_nofp_CPU "cortex-m35p+nofp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m35p_nofp_FLAGS
    "-mcpu=cortex-m35p+nofp"
    "-mfloat-abi=soft"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m35p_nofp_ISA "dsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m35p_nofp_BOARD "mps2_an505")

set(CMSIS_NN_DELEGATE_CORE_cortex_m35p_nodsp_nofp_CPU "cortex-m35p+nodsp+nofp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m35p_nodsp_nofp_FLAGS
    "-mcpu=cortex-m35p+nodsp+nofp"
    "-mfloat-abi=soft"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m35p_nodsp_nofp_ISA "scalar")
set(CMSIS_NN_DELEGATE_CORE_cortex_m35p_nodsp_nofp_BOARD "mps2_an505")

set(CMSIS_NN_DELEGATE_CORE_cortex_m55_CPU "cortex-m55")
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_FLAGS
    "-mcpu=cortex-m55"
    "-mfloat-abi=hard"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_ISA "mve")
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_BOARD "mps3_an547")

set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nodsp_CPU "cortex-m55+nodsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nodsp_FLAGS
    "-mcpu=cortex-m55+nodsp"
    "-mfloat-abi=hard"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nodsp_ISA "scalar")
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nodsp_BOARD "mps3_an547")

set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nomve_CPU "cortex-m55+nomve")
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nomve_FLAGS
    "-mcpu=cortex-m55+nomve"
    "-mfloat-abi=hard"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nomve_ISA "dsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nomve_BOARD "mps3_an547")

set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nomve_fp_CPU "cortex-m55+nomve.fp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nomve_fp_FLAGS
    "-mcpu=cortex-m55+nomve.fp"
    "-mfloat-abi=hard"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nomve_fp_ISA "mve")
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nomve_fp_BOARD "mps3_an547")

set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nofp_CPU "cortex-m55+nofp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nofp_FLAGS
    "-mcpu=cortex-m55+nofp"
    "-mfloat-abi=hard"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nofp_ISA "mve")
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nofp_BOARD "mps3_an547")

set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nodsp_nofp_CPU "cortex-m55+nodsp+nofp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nodsp_nofp_FLAGS
    "-mcpu=cortex-m55+nodsp+nofp"
    "-mfloat-abi=soft"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nodsp_nofp_ISA "scalar")
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nodsp_nofp_BOARD "mps3_an547")

set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nomve_nofp_CPU "cortex-m55+nomve+nofp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nomve_nofp_FLAGS
    "-mcpu=cortex-m55+nomve+nofp"
    "-mfloat-abi=soft"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nomve_nofp_ISA "dsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_nomve_nofp_BOARD "mps3_an547")

set(CMSIS_NN_DELEGATE_CORE_cortex_m52_CPU "cortex-m52")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_FLAGS
    "-mcpu=cortex-m52"
    "-mfloat-abi=hard"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_ISA "mve")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_BOARD "mps3_an547")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_OTHER_FLAGS
    "-march=armv8.1-m.main+mve.fp+fp.dp"
    "-mtune=cortex-m55"
    "-mfloat-abi=hard"
)

set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nodsp_CPU "cortex-m52+nodsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nodsp_FLAGS
    "-mcpu=cortex-m52+nodsp"
    "-mfloat-abi=hard"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nodsp_ISA "scalar")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nodsp_BOARD "mps3_an547")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nodsp_OTHER_FLAGS
    "-march=armv8.1-m.main+fp.dp"
    "-mtune=cortex-m55"
    "-mfloat-abi=hard"
)

set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nomve_CPU "cortex-m52+nomve")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nomve_FLAGS
    "-mcpu=cortex-m52+nomve"
    "-mfloat-abi=hard"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nomve_ISA "dsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nomve_BOARD "mps3_an547")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nomve_OTHER_FLAGS
    "-march=armv8.1-m.main+dsp+fp.dp"
    "-mtune=cortex-m55"
    "-mfloat-abi=hard"
)

set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nomve_fp_CPU "cortex-m52+nomve.fp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nomve_fp_FLAGS
    "-mcpu=cortex-m52+nomve.fp"
    "-mfloat-abi=hard"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nomve_fp_ISA "mve")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nomve_fp_BOARD "mps3_an547")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nomve_fp_OTHER_FLAGS
    "-march=armv8.1-m.main+mve+fp.dp"
    "-mtune=cortex-m55"
    "-mfloat-abi=hard"
)

set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nofp_CPU "cortex-m52+nofp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nofp_FLAGS
    "-mcpu=cortex-m52+nofp"
    "-mfloat-abi=hard"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nofp_ISA "mve")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nofp_BOARD "mps3_an547")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nofp_OTHER_FLAGS
    "-march=armv8.1-m.main+mve"
    "-mtune=cortex-m55"
    "-mfloat-abi=hard"
)

set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nodsp_nofp_CPU "cortex-m52+nodsp+nofp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nodsp_nofp_FLAGS
    "-mcpu=cortex-m52+nodsp+nofp"
    "-mfloat-abi=soft"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nodsp_nofp_ISA "scalar")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nodsp_nofp_BOARD "mps3_an547")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nodsp_nofp_OTHER_FLAGS
    "-march=armv8.1-m.main"
    "-mtune=cortex-m55"
    "-mfloat-abi=soft"
)

set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nomve_nofp_CPU "cortex-m52+nomve+nofp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nomve_nofp_FLAGS
    "-mcpu=cortex-m52+nomve+nofp"
    "-mfloat-abi=soft"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nomve_nofp_ISA "dsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nomve_nofp_BOARD "mps3_an547")
set(CMSIS_NN_DELEGATE_CORE_cortex_m52_nomve_nofp_OTHER_FLAGS
    "-march=armv8.1-m.main+dsp"
    "-mtune=cortex-m55"
    "-mfloat-abi=soft"
)

set(CMSIS_NN_DELEGATE_CORE_cortex_m85_CPU "cortex-m85")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_FLAGS
    "-mcpu=cortex-m85"
    "-mfloat-abi=hard"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_ISA "mve")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_BOARD "mps3_an547")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_OTHER_FLAGS
    "-march=armv8.1-m.main+mve.fp+fp.dp"
    "-mtune=cortex-m55"
    "-mfloat-abi=hard"
)

set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nodsp_CPU "cortex-m85+nodsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nodsp_FLAGS
    "-mcpu=cortex-m85+nodsp"
    "-mfloat-abi=hard"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nodsp_ISA "scalar")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nodsp_BOARD "mps3_an547")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nodsp_OTHER_FLAGS
    "-march=armv8.1-m.main+fp.dp"
    "-mtune=cortex-m55"
    "-mfloat-abi=hard"
)

set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nomve_CPU "cortex-m85+nomve")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nomve_FLAGS
    "-mcpu=cortex-m85+nomve"
    "-mfloat-abi=hard"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nomve_ISA "dsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nomve_BOARD "mps3_an547")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nomve_OTHER_FLAGS
    "-march=armv8.1-m.main+dsp+fp.dp"
    "-mtune=cortex-m55"
    "-mfloat-abi=hard"
)

set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nomve_fp_CPU "cortex-m85+nomve.fp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nomve_fp_FLAGS
    "-mcpu=cortex-m85+nomve.fp"
    "-mfloat-abi=hard"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nomve_fp_ISA "mve")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nomve_fp_BOARD "mps3_an547")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nomve_fp_OTHER_FLAGS
    "-march=armv8.1-m.main+mve+fp.dp"
    "-mtune=cortex-m55"
    "-mfloat-abi=hard"
)

set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nofp_CPU "cortex-m85+nofp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nofp_FLAGS
    "-mcpu=cortex-m85+nofp"
    "-mfloat-abi=hard"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nofp_ISA "mve")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nofp_BOARD "mps3_an547")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nofp_OTHER_FLAGS
    "-march=armv8.1-m.main+mve"
    "-mtune=cortex-m55"
    "-mfloat-abi=hard"
)

set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nodsp_nofp_CPU "cortex-m85+nodsp+nofp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nodsp_nofp_FLAGS
    "-mcpu=cortex-m85+nodsp+nofp"
    "-mfloat-abi=soft"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nodsp_nofp_ISA "scalar")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nodsp_nofp_BOARD "mps3_an547")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nodsp_nofp_OTHER_FLAGS
    "-march=armv8.1-m.main"
    "-mtune=cortex-m55"
    "-mfloat-abi=soft"
)

set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nomve_nofp_CPU "cortex-m85+nomve+nofp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nomve_nofp_FLAGS
    "-mcpu=cortex-m85+nomve+nofp"
    "-mfloat-abi=soft"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nomve_nofp_ISA "dsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nomve_nofp_BOARD "mps3_an547")
set(CMSIS_NN_DELEGATE_CORE_cortex_m85_nomve_nofp_OTHER_FLAGS
    "-march=armv8.1-m.main+dsp"
    "-mtune=cortex-m55"
    "-mfloat-abi=soft"
)

# platforms/arm_gcc/flags.bzl
set(CMSIS_NN_DELEGATE_ARM_COMMON
    "-Wall"
    "-Wextra"
    "-ffunction-sections"
    "-fdata-sections"
    "-fno-common"
    "-g"
    "-ffp-contract=off"
    "-fno-unwind-tables"
    "-fno-asynchronous-unwind-tables"
)
set(CMSIS_NN_DELEGATE_ARM_C "-std=c11")
set(CMSIS_NN_DELEGATE_ARM_CXX
    "-fno-exceptions"
    "-fno-rtti"
    "-fno-threadsafe-statics"
    "-fno-use-cxa-atexit"
)
set(CMSIS_NN_DELEGATE_ARM_LINK
    "-nostartfiles"
    "--specs=nano.specs"
    "-Wl,--gc-sections"
    "-Wl,--fatal-warnings"
    "-Wl,--build-id=none"
)

# platforms/bsp/BUILD
set(CMSIS_NN_DELEGATE_BSP_SRCS
    "platforms/bsp/exit.c"
    "platforms/bsp/fault.c"
    "platforms/bsp/identity.c"
    "platforms/bsp/stack.c"
    "platforms/bsp/startup.c"
    "platforms/bsp/ticks.c"
)
set(CMSIS_NN_DELEGATE_BSP_COPTS
    "-ffreestanding"
    "-fno-tree-loop-distribute-patterns"
)
set(CMSIS_NN_DELEGATE_ABORT_SRCS "platforms/bsp/abort.cc")
set(CMSIS_NN_DELEGATE_BSP_BOARD_SRCS
    "platforms/bsp/board.c"
    "platforms/bsp/serial.c"
    "platforms/bsp/uart.c"
)
