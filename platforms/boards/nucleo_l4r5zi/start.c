// Start-up of the NUCLEO-L4R5ZI: 120 MHz, the flash accelerator, and the console on PG7 and PG8.
// Names in quotes are chapters of ST's reference manual RM0432, with its names of registers.
#include "platforms/bsp/internal.h"
#include "platforms/bsp/registers.h"

// "RCC": reset and clock control.
#define RCC_CR REGISTER(0x40021000)
#define RCC_CFGR REGISTER(0x40021008)
#define RCC_PLLCFGR REGISTER(0x4002100c)
#define RCC_AHB2ENR REGISTER(0x4002104c)
#define RCC_APB1ENR1 REGISTER(0x40021058)
#define RCC_APB1ENR2 REGISTER(0x4002105c)
#define RCC_CCIPR REGISTER(0x40021088)

#define CR_HSION (1u << 8)
#define CR_HSIRDY (1u << 10)
#define CR_PLLON (1u << 24)
#define CR_PLLRDY (1u << 25)

// The 16 MHz oscillator inside, divided by M to 4 MHz, times N to 240 MHz, divided by R to the core's clock.
#define PLLCFGR_SOURCE_HSI16 (2u << 0)
#define PLLCFGR_M_4 (3u << 4)
#define PLLCFGR_N_60 (60u << 8)
#define PLLCFGR_REN (1u << 24)
#define PLLCFGR_R_2 (0u << 25)

#define CFGR_SW_PLL (3u << 0)
#define CFGR_SWS (3u << 2)
#define CFGR_SWS_PLL (3u << 2)
#define CFGR_HPRE (15u << 4)
#define CFGR_HPRE_2 (8u << 4)

#define AHB2ENR_GPIOG (1u << 6)
#define APB1ENR1_PWR (1u << 28)
#define APB1ENR2_LPUART1 (1u << 0)
#define CCIPR_LPUART1SEL (3u << 10)
#define CCIPR_LPUART1SEL_HSI16 (2u << 10)

// "PWR". Above 80 MHz, range 1 has to be in boost mode: R1MODE 0. After reset it is in range 1.
#define PWR_CR2 REGISTER(0x40007004)
#define PWR_CR5 REGISTER(0x40007080)
#define CR2_IOSV (1u << 9)  // VDDIO2 is there, the supply of PG2 to PG15.
#define CR5_R1MODE (1u << 8)

// "FLASH": 5 wait states from 100 MHz to 120 MHz in range 1 boost mode.
#define FLASH_ACR REGISTER(0x40022000)
#define ACR_LATENCY (15u << 0)
#define ACR_LATENCY_5 (5u << 0)
#define ACR_PREFETCH (1u << 8)
#define ACR_INSTRUCTION_CACHE (1u << 9)
#define ACR_DATA_CACHE (1u << 10)

// "GPIO": port G. The data sheet's table of alternate functions: LPUART1_TX is 8 of PG7, and
// LPUART1_RX of PG8.
#define GPIOG_MODER REGISTER(0x48001800)
#define GPIOG_AFRL REGISTER(0x48001820)
#define GPIOG_AFRH REGISTER(0x48001824)
#define MODER_PG7_PG8 (15u << 14)
#define MODER_PG7_PG8_ALTERNATE (10u << 14)
#define AFRL_PG7 (15u << 28)
#define AFRL_PG7_LPUART1 (8u << 28)
#define AFRH_PG8 (15u << 0)
#define AFRH_PG8_LPUART1 (8u << 0)

// "LPUART": 256 times its clock, divided by this, is the speed; its clock is the 16 MHz oscillator, whatever the core's is.
#define LPUART1_BRR REGISTER(0x4000800c)
#define BRR_115200 35556u

static void start_clock(void) {
  RCC_APB1ENR1 |= APB1ENR1_PWR;
  RCC_CR |= CR_HSION;
  (void)wait_until(&RCC_CR, CR_HSIRDY, CR_HSIRDY);
  RCC_PLLCFGR = PLLCFGR_SOURCE_HSI16 | PLLCFGR_M_4 | PLLCFGR_N_60 | PLLCFGR_R_2 | PLLCFGR_REN;
  RCC_CR |= CR_PLLON;
  // Half of the clock during the change, as "PWR" asks for above 80 MHz.
  RCC_CFGR = (RCC_CFGR & ~CFGR_HPRE) | CFGR_HPRE_2;
  PWR_CR5 &= ~CR5_R1MODE;
  FLASH_ACR = ACR_LATENCY_5 | ACR_PREFETCH | ACR_INSTRUCTION_CACHE | ACR_DATA_CACHE;
  (void)wait_until(&FLASH_ACR, ACR_LATENCY, ACR_LATENCY_5);
  if (wait_until(&RCC_CR, CR_PLLRDY, CR_PLLRDY)) {
    RCC_CFGR |= CFGR_SW_PLL;
    (void)wait_until(&RCC_CFGR, CFGR_SWS, CFGR_SWS_PLL);
  }
  // For at least 1 us: 100 reads are more than 100 cycles of 60 MHz.
  for (int reads = 0; reads < 100; ++reads) {
    (void)RCC_CFGR;
  }
  RCC_CFGR &= ~CFGR_HPRE;
}

static void start_console(void) {
  PWR_CR2 |= CR2_IOSV;
  RCC_CCIPR = (RCC_CCIPR & ~CCIPR_LPUART1SEL) | CCIPR_LPUART1SEL_HSI16;
  RCC_AHB2ENR |= AHB2ENR_GPIOG;
  RCC_APB1ENR2 |= APB1ENR2_LPUART1;
  (void)RCC_APB1ENR2;  // A delay, before the first access to a peripheral.
  GPIOG_AFRL = (GPIOG_AFRL & ~AFRL_PG7) | AFRL_PG7_LPUART1;
  GPIOG_AFRH = (GPIOG_AFRH & ~AFRH_PG8) | AFRH_PG8_LPUART1;
  GPIOG_MODER = (GPIOG_MODER & ~MODER_PG7_PG8) | MODER_PG7_PG8_ALTERNATE;
  LPUART1_BRR = BRR_115200;
}

void bsp_reset(void) {
  start_clock();
  start_console();
  Reset_Handler();
}
