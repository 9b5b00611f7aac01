// Start-up of the STM32F4 Discovery: 168 MHz from the crystal, the flash accelerator, and the console on PA2 and PA3.
// Sections are those of ST's reference manual RM0090.
#include "platforms/bsp/internal.h"
#include "platforms/bsp/registers.h"

// Section 7.3: reset and clock control.
#define RCC_CR REGISTER(0x40023800)
#define RCC_PLLCFGR REGISTER(0x40023804)
#define RCC_CFGR REGISTER(0x40023808)
#define RCC_AHB1ENR REGISTER(0x40023830)
#define RCC_APB1ENR REGISTER(0x40023840)

#define CR_HSEON (1u << 16)
#define CR_HSERDY (1u << 17)
#define CR_PLLON (1u << 24)
#define CR_PLLRDY (1u << 25)

// The input divided by M is 1 MHz, times N is 336 MHz, divided by 2 is the core's clock; divided by Q is USB's 48 MHz.
#define PLL_HSI_M (16u << 0)      // of the 16 MHz oscillator inside
#define PLL_HSE_M (8u << 0)       // of the board's crystal, 8 MHz
#define PLL_RESERVED (15u << 28)  // to be kept
#define PLL_N (336u << 6)
#define PLL_P_2 (0u << 16)
#define PLL_SOURCE_HSE (1u << 22)
#define PLL_Q (7u << 24)

#define CFGR_SW_PLL (2u << 0)
#define CFGR_SWS (3u << 2)
#define CFGR_SWS_PLL (2u << 2)
#define CFGR_PPRE1_4 (5u << 10)  // APB1 at 42 MHz, its maximum
#define CFGR_PPRE2_2 (4u << 13)  // APB2 at 84 MHz, its maximum

#define AHB1ENR_GPIOA (1u << 0)
#define APB1ENR_USART2 (1u << 17)

// Section 3.9.1: flash. Table 10: 5 wait states from 150 MHz to 168 MHz at 2.7 V to 3.6 V.
#define FLASH_ACR REGISTER(0x40023c00)
#define ACR_LATENCY (7u << 0)
#define ACR_LATENCY_5 (5u << 0)
#define ACR_PREFETCH (1u << 8)
#define ACR_INSTRUCTION_CACHE (1u << 9)
#define ACR_DATA_CACHE (1u << 10)

// Section 8.4: port A. The data sheet's table 9: USART2_TX is alternate function 7 of PA2, and
// USART2_RX of PA3.
#define GPIOA_MODER REGISTER(0x40020000)
#define GPIOA_AFRL REGISTER(0x40020020)
#define MODER_PA2_PA3 (15u << 4)
#define MODER_PA2_PA3_ALTERNATE (10u << 4)
#define AFRL_PA2_PA3 (255u << 8)
#define AFRL_PA2_PA3_USART2 (0x77u << 8)

// Section 30.6.3: APB1's clock divided by this is the speed; 42 MHz / 365 is 115,068 baud.
#define USART2_BRR REGISTER(0x40004408)
#define BRR_115200 365u

// PWR_CR is left alone: after reset it has the voltage scale that 168 MHz need (section 5.4.1).
static void start_clock(void) {
  RCC_CR |= CR_HSEON;
  // Without a crystal, the oscillator inside gives the same frequency, to 1 %.
  const bool crystal = wait_until(&RCC_CR, CR_HSERDY, CR_HSERDY);
  RCC_PLLCFGR = (RCC_PLLCFGR & PLL_RESERVED) | PLL_N | PLL_P_2 | PLL_Q |
                (crystal ? PLL_SOURCE_HSE | PLL_HSE_M : PLL_HSI_M);
  RCC_CR |= CR_PLLON;
  // Before the clock rises (section 3.5.1). The wait reads it back, which has to confirm it.
  FLASH_ACR = ACR_LATENCY_5 | ACR_PREFETCH | ACR_INSTRUCTION_CACHE | ACR_DATA_CACHE;
  (void)wait_until(&FLASH_ACR, ACR_LATENCY, ACR_LATENCY_5);
  RCC_CFGR |= CFGR_PPRE1_4 | CFGR_PPRE2_2;
  if (wait_until(&RCC_CR, CR_PLLRDY, CR_PLLRDY)) {
    RCC_CFGR |= CFGR_SW_PLL;
    (void)wait_until(&RCC_CFGR, CFGR_SWS, CFGR_SWS_PLL);
  }
}

static void start_console(void) {
  RCC_AHB1ENR |= AHB1ENR_GPIOA;
  RCC_APB1ENR |= APB1ENR_USART2;
  (void)RCC_APB1ENR;  // A delay, before the first access to a peripheral (errata sheet ES0182).
  GPIOA_AFRL = (GPIOA_AFRL & ~AFRL_PA2_PA3) | AFRL_PA2_PA3_USART2;
  GPIOA_MODER = (GPIOA_MODER & ~MODER_PA2_PA3) | MODER_PA2_PA3_ALTERNATE;
  USART2_BRR = BRR_115200;
}

void bsp_reset(void) {
  start_clock();
  start_console();
  Reset_Handler();
}
