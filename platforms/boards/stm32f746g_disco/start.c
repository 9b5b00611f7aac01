// Start-up of the 32F746GDISCOVERY: 216 MHz from the crystal, both caches, and the console on PA9 and PB7.
// Names in quotes are chapters of ST's reference manual RM0385, with its names of registers.
#include "platforms/bsp/caches.h"
#include "platforms/bsp/internal.h"
#include "platforms/bsp/registers.h"

// "RCC": reset and clock control.
#define RCC_CR REGISTER(0x40023800)
#define RCC_PLLCFGR REGISTER(0x40023804)
#define RCC_CFGR REGISTER(0x40023808)
#define RCC_AHB1ENR REGISTER(0x40023830)
#define RCC_APB1ENR REGISTER(0x40023840)
#define RCC_APB2ENR REGISTER(0x40023844)
#define RCC_DCKCFGR2 REGISTER(0x40023890)

#define CR_HSEON (1u << 16)
#define CR_HSERDY (1u << 17)
#define CR_PLLON (1u << 24)
#define CR_PLLRDY (1u << 25)

// The input divided by M is 1 MHz, times N is 432 MHz, divided by 2 is the core's clock; divided by Q is USB's 48 MHz.
#define PLL_HSI_M (16u << 0)      // of the 16 MHz oscillator inside
#define PLL_HSE_M (25u << 0)      // of the board's crystal, 25 MHz
#define PLL_RESERVED (15u << 28)  // to be kept
#define PLL_N (432u << 6)
#define PLL_P_2 (0u << 16)
#define PLL_SOURCE_HSE (1u << 22)
#define PLL_Q (9u << 24)

#define CFGR_SW_PLL (2u << 0)
#define CFGR_SWS (3u << 2)
#define CFGR_SWS_PLL (2u << 2)
#define CFGR_PPRE1_4 (5u << 10)  // APB1 at 54 MHz, its maximum
#define CFGR_PPRE2_2 (4u << 13)  // APB2 at 108 MHz, its maximum

#define AHB1ENR_GPIOA (1u << 0)
#define AHB1ENR_GPIOB (1u << 1)
#define APB1ENR_PWR (1u << 28)
#define APB2ENR_USART1 (1u << 4)
#define DCKCFGR2_USART1SEL (3u << 0)
#define DCKCFGR2_USART1SEL_HSI (2u << 0)

// "PWR": above 180 MHz, over-drive. The voltage scale after reset is the one that this needs.
#define PWR_CR1 REGISTER(0x40007000)
#define PWR_CSR1 REGISTER(0x40007004)
#define CR1_ODEN (1u << 16)
#define CR1_ODSWEN (1u << 17)
#define CSR1_ODRDY (1u << 16)
#define CSR1_ODSWRDY (1u << 17)

// "FLASH": 7 wait states from 210 MHz to 216 MHz at 2.7 V to 3.6 V. Its accelerator is of the other address of flash.
#define FLASH_ACR REGISTER(0x40023c00)
#define ACR_LATENCY (15u << 0)
#define ACR_LATENCY_7 (7u << 0)
#define ACR_PREFETCH (1u << 8)

// "GPIO": ports A and B. The data sheet's table of alternate functions: USART1_TX is 7 of PA9, and USART1_RX of PB7, to
// which UM1907 leads the ST-LINK's serial port.
#define GPIOA_MODER REGISTER(0x40020000)
#define GPIOA_AFRH REGISTER(0x40020024)
#define MODER_PA9 (3u << 18)
#define MODER_PA9_ALTERNATE (2u << 18)
#define AFRH_PA9 (15u << 4)
#define AFRH_PA9_USART1 (7u << 4)
#define GPIOB_MODER REGISTER(0x40020400)
#define GPIOB_AFRL REGISTER(0x40020420)
#define MODER_PB7 (3u << 14)
#define MODER_PB7_ALTERNATE (2u << 14)
#define AFRL_PB7 (15u << 28)
#define AFRL_PB7_USART1 (7u << 28)

// "USART": its clock, the 16 MHz oscillator whatever the core's is, divided by this: 115,108 baud.
#define USART1_BRR REGISTER(0x4001100c)
#define BRR_115200 139u

static void start_clock(void) {
  RCC_APB1ENR |= APB1ENR_PWR;
  RCC_CR |= CR_HSEON;
  // Without a crystal, the oscillator inside gives the same frequency, to 1 %.
  const bool crystal = wait_until(&RCC_CR, CR_HSERDY, CR_HSERDY);
  RCC_PLLCFGR = (RCC_PLLCFGR & PLL_RESERVED) | PLL_N | PLL_P_2 | PLL_Q |
                (crystal ? PLL_SOURCE_HSE | PLL_HSE_M : PLL_HSI_M);
  RCC_CR |= CR_PLLON;
  PWR_CR1 |= CR1_ODEN;
  const bool ready = wait_until(&PWR_CSR1, CSR1_ODRDY, CSR1_ODRDY);
  PWR_CR1 |= CR1_ODSWEN;
  const bool switched = wait_until(&PWR_CSR1, CSR1_ODSWRDY, CSR1_ODSWRDY);
  FLASH_ACR = ACR_LATENCY_7 | ACR_PREFETCH;
  (void)wait_until(&FLASH_ACR, ACR_LATENCY, ACR_LATENCY_7);
  RCC_CFGR |= CFGR_PPRE1_4 | CFGR_PPRE2_2;
  if (wait_until(&RCC_CR, CR_PLLRDY, CR_PLLRDY) && ready && switched) {
    RCC_CFGR |= CFGR_SW_PLL;
    (void)wait_until(&RCC_CFGR, CFGR_SWS, CFGR_SWS_PLL);
  }
}

static void start_console(void) {
  RCC_DCKCFGR2 = (RCC_DCKCFGR2 & ~DCKCFGR2_USART1SEL) | DCKCFGR2_USART1SEL_HSI;
  RCC_AHB1ENR |= AHB1ENR_GPIOA | AHB1ENR_GPIOB;
  RCC_APB2ENR |= APB2ENR_USART1;
  (void)RCC_APB2ENR;  // A delay, before the first access to a peripheral.
  GPIOA_AFRH = (GPIOA_AFRH & ~AFRH_PA9) | AFRH_PA9_USART1;
  GPIOA_MODER = (GPIOA_MODER & ~MODER_PA9) | MODER_PA9_ALTERNATE;
  GPIOB_AFRL = (GPIOB_AFRL & ~AFRL_PB7) | AFRL_PB7_USART1;
  GPIOB_MODER = (GPIOB_MODER & ~MODER_PB7) | MODER_PB7_ALTERNATE;
  USART1_BRR = BRR_115200;
}

void bsp_reset(void) {
  start_caches();
  start_clock();
  start_console();
  Reset_Handler();
}
