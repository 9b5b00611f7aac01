# Generated from the tables of platforms/ by `./bazelw run //cmake:generate`. Do not edit.

# platforms/cores.bzl, and the boards of these cores in platforms/boards.bzl
set(CMSIS_NN_DELEGATE_CORES
    "cortex_m0plus"
    "cortex_m3"
    "cortex_m4"
    "cortex_m7"
    "cortex_m33"
    "cortex_m55"
    "cortex_m85"
)

set(CMSIS_NN_DELEGATE_CORE_cortex_m0plus_CPU "cortex-m0plus")
set(CMSIS_NN_DELEGATE_CORE_cortex_m0plus_FLAGS
    "-mcpu=cortex-m0plus"
    "-mfloat-abi=soft"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m0plus_ISA "scalar")
set(CMSIS_NN_DELEGATE_CORE_cortex_m0plus_BOARD "microbit")

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

set(CMSIS_NN_DELEGATE_CORE_cortex_m7_CPU "cortex-m7")
set(CMSIS_NN_DELEGATE_CORE_cortex_m7_FLAGS
    "-mcpu=cortex-m7"
    "-mfloat-abi=hard"
    "-mfpu=fpv5-sp-d16"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m7_ISA "dsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m7_BOARD "mps2_an500")

set(CMSIS_NN_DELEGATE_CORE_cortex_m33_CPU "cortex-m33")
set(CMSIS_NN_DELEGATE_CORE_cortex_m33_FLAGS
    "-mcpu=cortex-m33"
    "-mfloat-abi=hard"
    "-mfpu=fpv5-sp-d16"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m33_ISA "dsp")
set(CMSIS_NN_DELEGATE_CORE_cortex_m33_BOARD "mps2_an505")

set(CMSIS_NN_DELEGATE_CORE_cortex_m55_CPU "cortex-m55")
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_FLAGS
    "-mcpu=cortex-m55"
    "-mfloat-abi=hard"
)
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_ISA "mve")
set(CMSIS_NN_DELEGATE_CORE_cortex_m55_BOARD "mps3_an547")

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
    "platforms/bsp/internal.h"
    "platforms/bsp/scs.h"
    "platforms/bsp/stack.c"
    "platforms/bsp/startup.c"
    "platforms/bsp/ticks.c"
    "platforms/bsp/uart.c"
    "platforms/bsp/uart_cmsdk.h"
    "platforms/bsp/uart_nrf51.h"
)
set(CMSIS_NN_DELEGATE_BSP_COPTS
    "-ffreestanding"
    "-fno-tree-loop-distribute-patterns"
)
set(CMSIS_NN_DELEGATE_ABORT_SRCS "platforms/bsp/abort.cc")
