// Registers of the System Control Space, the same on every Cortex-M (Armv6-M to Armv8.1-M).
// Private to the board support.
#pragma once

#include <stdint.h>

#define SCS_REGISTER(address) (*(volatile uint32_t*)(address))

#define SYST_CSR SCS_REGISTER(0xE000E010)
#define SYST_RVR SCS_REGISTER(0xE000E014)
#define SYST_CVR SCS_REGISTER(0xE000E018)
#define ICSR SCS_REGISTER(0xE000ED04)
#define AIRCR SCS_REGISTER(0xE000ED0C)
#define CCR SCS_REGISTER(0xE000ED14)
#define CFSR SCS_REGISTER(0xE000ED28)  // Not on Armv6-M and Armv8-M Baseline.
#define MMFAR SCS_REGISTER(0xE000ED34)
#define BFAR SCS_REGISTER(0xE000ED38)
#define CPACR SCS_REGISTER(0xE000ED88)

#define SYST_CSR_ENABLE (1u << 0)
#define SYST_CSR_TICKINT (1u << 1)
#define SYST_CSR_CLKSOURCE (1u << 2)  // The core clock.
#define CFSR_MMARVALID (1u << 7)      // MMFAR is the address of the fault.
#define CFSR_BFARVALID (1u << 15)     // BFAR is.
#define ICSR_PENDSTSET (1u << 26)
#define AIRCR_VECTKEY (0x05FAu << 16)  // Without it, writes are ignored.
#define AIRCR_SYSRESETREQ (1u << 2)
#define CCR_LOB (1u << 19)            // Armv8.1-M: loops and branches with low overhead.
#define CPACR_CP10_CP11 (0xFu << 20)  // Full access to the FPU and the vector unit.
