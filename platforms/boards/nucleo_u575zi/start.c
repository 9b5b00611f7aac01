// Start-up of the NUCLEO-U575ZI-Q: 160 MHz, the instruction cache, and the console on PA9 and PA10.
// Names in quotes are chapters of ST's reference manual RM0456, with its names of registers. Addresses are the non-secure
// ones, which are those of a chip without TrustZone.
#include "platforms/bsp/internal.h"
#include "platforms/bsp/registers.h"

// "RCC": reset and clock control.
#define RCC_CR REGISTER(0x46020c00)
#define RCC_CFGR1 REGISTER(0x46020c1c)
#define RCC_PLL1CFGR REGISTER(0x46020c28)
#define RCC_PLL1DIVR REGISTER(0x46020c34)
#define RCC_AHB2ENR1 REGISTER(0x46020c8c)
#define RCC_AHB3ENR REGISTER(0x46020c94)
#define RCC_APB2ENR REGISTER(0x46020ca4)
#define RCC_CCIPR1 REGISTER(0x46020ce0)

#define CR_HSION (1u << 8)
#define CR_HSIRDY (1u << 10)
#define CR_PLL1ON (1u << 24)
#define CR_PLL1RDY (1u << 25)

// The 16 MHz oscillator inside, times N is 320 MHz, divided by R is the core's clock. Half of it clocks the booster.
#define PLL1CFGR_SOURCE_HSI16 (2u << 0)
#define PLL1CFGR_RANGE_8_TO_16_MHZ (3u << 2)
#define PLL1CFGR_M_1 (0u << 8)
#define PLL1CFGR_MBOOST_2 (1u << 12)
#define PLL1CFGR_REN (1u << 18)
#define PLL1DIVR_N_20 (19u << 0)
#define PLL1DIVR_P_2 (1u << 9)
#define PLL1DIVR_Q_2 (1u << 16)
#define PLL1DIVR_R_2 (1u << 24)

#define CFGR1_SW_PLL1 (3u << 0)
#define CFGR1_SWS (3u << 2)
#define CFGR1_SWS_PLL1 (3u << 2)

#define AHB2ENR1_GPIOA (1u << 0)
#define AHB3ENR_PWR (1u << 2)
#define APB2ENR_USART1 (1u << 14)
#define CCIPR1_USART1SEL (3u << 0)
#define CCIPR1_USART1SEL_HSI16 (2u << 0)

// "PWR": 160 MHz need range 1, and above 55 MHz the booster.
#define PWR_VOSR REGISTER(0x4602080c)
#define VOSR_BOOSTRDY (1u << 14)
#define VOSR_VOSRDY (1u << 15)
#define VOSR_RANGE_1 (3u << 16)
#define VOSR_BOOSTEN (1u << 18)

// "FLASH": 4 wait states from 128 MHz to 160 MHz in range 1.
#define FLASH_ACR REGISTER(0x40022000)
#define ACR_LATENCY (15u << 0)
#define ACR_LATENCY_4 (4u << 0)
#define ACR_PREFETCH (1u << 8)

// "ICACHE", of code and constants in flash. "DCACHE1" is of external memories only, so it stays off.
#define ICACHE_CR REGISTER(0x40030400)
#define ICACHE_SR REGISTER(0x40030404)
#define ICACHE_CR_EN (1u << 0)
#define ICACHE_SR_BUSYF (1u << 0)

// "GPIO": port A. The data sheet's table of alternate functions: USART1_TX is 7 of PA9, and
// USART1_RX of PA10.
#define GPIOA_MODER REGISTER(0x42020000)
#define GPIOA_AFRH REGISTER(0x42020024)
#define MODER_PA9_PA10 (15u << 18)
#define MODER_PA9_PA10_ALTERNATE (10u << 18)
#define AFRH_PA9_PA10 (255u << 4)
#define AFRH_PA9_PA10_USART1 (0x77u << 4)

// "USART": its clock, the 16 MHz oscillator whatever the core's is, divided by this: 115,108 baud.
#define USART1_BRR REGISTER(0x4001380c)
#define BRR_115200 139u

static void start_clock(void) {
  RCC_AHB3ENR |= AHB3ENR_PWR;
  RCC_CR |= CR_HSION;
  (void)wait_until(&RCC_CR, CR_HSIRDY, CR_HSIRDY);
  // The booster needs its clock before it is switched on.
  RCC_PLL1CFGR =
      PLL1CFGR_SOURCE_HSI16 | PLL1CFGR_RANGE_8_TO_16_MHZ | PLL1CFGR_M_1 | PLL1CFGR_MBOOST_2;
  RCC_PLL1DIVR = PLL1DIVR_N_20 | PLL1DIVR_P_2 | PLL1DIVR_Q_2 | PLL1DIVR_R_2;
  PWR_VOSR |= VOSR_RANGE_1;
  const bool voltage = wait_until(&PWR_VOSR, VOSR_VOSRDY, VOSR_VOSRDY);
  PWR_VOSR |= VOSR_BOOSTEN;
  const bool boosted = wait_until(&PWR_VOSR, VOSR_BOOSTRDY, VOSR_BOOSTRDY);
  FLASH_ACR = ACR_LATENCY_4 | ACR_PREFETCH;
  (void)wait_until(&FLASH_ACR, ACR_LATENCY, ACR_LATENCY_4);
  RCC_CR |= CR_PLL1ON;
  RCC_PLL1CFGR |= PLL1CFGR_REN;
  if (wait_until(&RCC_CR, CR_PLL1RDY, CR_PLL1RDY) && voltage && boosted) {
    RCC_CFGR1 |= CFGR1_SW_PLL1;
    (void)wait_until(&RCC_CFGR1, CFGR1_SWS, CFGR1_SWS_PLL1);
  }
  // It invalidates itself after reset, and must not be enabled before that is done.
  (void)wait_until(&ICACHE_SR, ICACHE_SR_BUSYF, 0);
  ICACHE_CR |= ICACHE_CR_EN;
}

static void start_console(void) {
  RCC_CCIPR1 = (RCC_CCIPR1 & ~CCIPR1_USART1SEL) | CCIPR1_USART1SEL_HSI16;
  RCC_AHB2ENR1 |= AHB2ENR1_GPIOA;
  RCC_APB2ENR |= APB2ENR_USART1;
  (void)RCC_APB2ENR;  // A delay, before the first access to a peripheral.
  GPIOA_AFRH = (GPIOA_AFRH & ~AFRH_PA9_PA10) | AFRH_PA9_PA10_USART1;
  GPIOA_MODER = (GPIOA_MODER & ~MODER_PA9_PA10) | MODER_PA9_PA10_ALTERNATE;
  USART1_BRR = BRR_115200;
}

void bsp_reset(void) {
  start_clock();
  start_console();
  Reset_Handler();
}
