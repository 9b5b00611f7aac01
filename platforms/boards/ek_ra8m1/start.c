// Start-up of the EK-RA8M1: 480 MHz from the crystal, the caches, and the console on PA14 and PA15. Names in quotes are
// chapters of the RA8M1's reference manual, Renesas's "User's Manual: Hardware", with its names of registers. Addresses
// are those of Secure state, in which the chip starts.
#include "platforms/bsp/caches.h"
#include "platforms/bsp/internal.h"
#include "platforms/bsp/registers.h"

// "Clock Generation Circuit" and "Register Write Protection".
#define SYSTEM(offset) (0x4001e000 + (offset))
#define SCKDIVCR REGISTER(SYSTEM(0x20))
#define SCKDIVCR2 REGISTER_8(SYSTEM(0x24))
#define SCKSCR REGISTER_8(SYSTEM(0x26))
#define PLLCCR REGISTER_16(SYSTEM(0x28))
#define PLLCR REGISTER_8(SYSTEM(0x2a))
#define MOSCCR REGISTER_8(SYSTEM(0x32))
#define OSCSF REGISTER_8(SYSTEM(0x3c))
#define PLLCCR2 REGISTER_16(SYSTEM(0x4c))
#define SCICKDIVCR REGISTER_8(SYSTEM(0x54))
#define SCICKCR REGISTER_8(SYSTEM(0x55))
#define MOSCWTCR REGISTER_8(SYSTEM(0xa2))
#define PRCR REGISTER_16(SYSTEM(0x3fa))
#define MOMCR REGISTER_8(SYSTEM(0xa50))

#define PRCR_LOCK 0xa500
#define PRCR_UNLOCK 0xa503  // PRC0 and PRC1: clocks, and modules
#define MOMCR_8_TO_24_MHZ (3u << 1)
#define MOSCWTCR_RENESAS 9u  // as in its software
#define OSCSF_MOSCSF (1u << 3)
#define OSCSF_PLLSF (1u << 5)
// The 20 MHz crystal divided by 2, times 96 is 960 MHz, divided by 2 is the core's clock.
#define PLLCCR_PLIDIV_2 (1u << 0)
#define PLLCCR_PLLMUL_96 (95u << 8)
#define PLLCCR2_2_2_2 0x111u
#define SCKSCR_PLL1P 5u
// PCLKD, PCLKA and BCLK at 120 MHz, PCLKC, PCLKB and FCLK at 60 MHz, PCLKE and ICLK at 240 MHz: their maximum.
#define SCKDIVCR_MAXIMUM \
  (2u << 0 | 3u << 4 | 3u << 8 | 2u << 12 | 2u << 16 | 1u << 20 | 1u << 24 | 3u << 28)
#define SCKDIVCR2_1 0u
#define SCKDIVCR2_2 1u
#define SCICKCR_CRYSTAL 3u
#define SCICKCR_CKSREQ (1u << 6)
#define SCICKCR_CKSRDY (1u << 7)

// "Flash Memory" and "SRAM": wait cycles at 240 MHz.
#define FCACHEE REGISTER_16(0x4001c100)
#define FCACHEIV REGISTER_16(0x4001c104)
#define FLWT REGISTER_8(0x4001c11c)
#define SRAMPRCR REGISTER_16(0x40002000)
#define SRAMWTSC REGISTER_8(0x40002008)
#define FLWT_4 4u
#define SRAMPRCR_LOCK 0xa500
#define SRAMPRCR_UNLOCK 0xa501

// "I/O Ports": SCI9's TXD and RXD are function 5 of PA14 and PA15. "Low Power Modes": SCI9 runs if its bit is 0.
#define PFS_PA14 REGISTER(0x40400ab8)
#define PFS_PA15 REGISTER(0x40400abc)
#define PWPRS REGISTER_8(0x40400d14)
#define MSTPCRB REGISTER(0x40203004)
#define PWPRS_PFSWE (1u << 6)
#define PFS_PSEL_SCI9 (5u << 24)
#define PFS_PMR (1u << 16)
#define MSTPCRB_SCI9 (1u << 22)

// "SCI": the crystal's clock divided by 6 times BRR + 1 is the speed: 114,943 baud.
#define SCI9_CCR2 REGISTER(0x40358910)
#define CCR2_RESET 0xff000004u
#define CCR2_ABCSE (1u << 6)
#define CCR2_BRR_115200 (28u << 8)

// With error correction, bytes of the data TCM can be read and written after their word has been written. Above the
// stack pointer are frames in use.
static void fill_tcm(void) {
  if ((MSCR & MSCR_ECCEN) != 0) {
    volatile uint32_t* end;
    __asm__ volatile("mov %0, sp" : "=r"(end));
    for (volatile uint32_t* word = &REGISTER(0x20000000); word < end; ++word) {
      *word = 0;
    }
  }
}

// For at least 150 us after the core's clock changes by more than 240 MHz: each read takes a cycle or more.
static void settle(void) {
  for (int reads = 0; reads < 480 * 150; ++reads) {
    (void)SCKSCR;
  }
}

static void start_clock(void) {
  FCACHEIV = 1;
  for (int reads = 0; FCACHEIV != 0 && reads < READS_UNTIL_GIVEN_UP; ++reads) {
  }
  FCACHEE = 1;
  MOMCR = MOMCR_8_TO_24_MHZ;
  MOSCWTCR = MOSCWTCR_RENESAS;
  MOSCCR = 0;
  (void)wait_until_8(&OSCSF, OSCSF_MOSCSF, OSCSF_MOSCSF);
  PLLCCR = PLLCCR_PLIDIV_2 | PLLCCR_PLLMUL_96;
  PLLCCR2 = PLLCCR2_2_2_2;
  PLLCR = 0;
  if (!wait_until_8(&OSCSF, OSCSF_PLLSF, OSCSF_PLLSF)) {
    return;
  }
  FLWT = FLWT_4;
  SRAMPRCR = SRAMPRCR_UNLOCK;
  __asm__ volatile("dmb" ::: "memory");
  SRAMWTSC = 1;
  __asm__ volatile("dmb" ::: "memory");
  SRAMPRCR = SRAMPRCR_LOCK;
  SCKDIVCR = SCKDIVCR_MAXIMUM;
  SCKDIVCR2 = SCKDIVCR2_2;
  SCKSCR = SCKSCR_PLL1P;
  settle();
  SCKDIVCR2 = SCKDIVCR2_1;
  settle();
}

static void start_console(void) {
  SCICKCR |= SCICKCR_CKSREQ;
  (void)wait_until_8(&SCICKCR, SCICKCR_CKSRDY, SCICKCR_CKSRDY);
  SCICKDIVCR = 0;  // by 1
  SCICKCR = SCICKCR_CRYSTAL | SCICKCR_CKSREQ;
  SCICKCR = SCICKCR_CRYSTAL;
  (void)wait_until_8(&SCICKCR, SCICKCR_CKSRDY, 0);
  MSTPCRB &= ~MSTPCRB_SCI9;
  PWPRS = 0;
  PWPRS = PWPRS_PFSWE;
  PFS_PA14 = PFS_PSEL_SCI9;  // before PMR
  PFS_PA14 = PFS_PSEL_SCI9 | PFS_PMR;
  PFS_PA15 = PFS_PSEL_SCI9;
  PFS_PA15 = PFS_PSEL_SCI9 | PFS_PMR;
  SCI9_CCR2 = CCR2_RESET | CCR2_BRR_115200 | CCR2_ABCSE;
}

void bsp_reset(void) {
  fill_tcm();
  mend_m85_caches();
  start_caches();
  PRCR = PRCR_UNLOCK;
  start_clock();
  start_console();
  PRCR = PRCR_LOCK;
  Reset_Handler();
}
