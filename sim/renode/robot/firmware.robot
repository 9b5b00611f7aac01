*** Comments ***
Runs images in Renode, and checks that each ends by itself with exit code 0. Copy this file into a firmware project, with the .repl
file of its core (bazel build //sim/renode:boards). It needs nothing else from this repository.

    renode-test --variable BOARDS:FOLDER --variable IMAGES:FOLDER firmware.robot

The firmware ends by writing "##EXIT rc=<code>##" to its UART. Timeouts of keywords are seconds of virtual time, which stands still
when the core jumps outside memory ("CPU abort"); only Test Timeout, which is wall-clock time, ends such a test.
Cortex-M55 and M85 need a Renode newer than 1.16.1, which the test case of the probe checks: --exclude mve leaves these cores out.


*** Settings ***
Test Timeout                    120 seconds


*** Variables ***
${BOARDS}                       ${CURDIR}
${IMAGES}                       ${CURDIR}
${UART}                         sysbus.uart0
# Virtual seconds, at 1000 instructions a microsecond.
${LIMIT}                        20


*** Keywords ***
Load
    [Documentation]             Puts an image on the board of a core, ready to start.
    [Arguments]                 ${core}  ${image}
    Execute Command             mach create "dut"
    Execute Command             machine LoadPlatformDescription @${BOARDS}/${core}.repl
    Execute Command             sysbus LoadELF @${IMAGES}/${image}
    Execute Command             emulation SetGlobalAdvanceImmediately true
    Create Log Tester           0
    Create Terminal Tester      ${UART}  timeout=${LIMIT}  defaultPauseEmulation=true

Load Job
    [Documentation]             Puts a file where the firmware looks for its work: __mailbox_start of its linker script.
    [Arguments]                 ${file}  ${address}
    Execute Command             sysbus LoadBinary @${file} ${address}

Should End With
    [Arguments]                 ${code}
    Start Emulation
    ${line}=  Wait For Line On Uart    ^##EXIT rc=(\\d+)##  treatAsRegex=true
    ${instructions}=  Execute Command  cpu ExecutedInstructions
    ${instructions}=  Convert To Integer    ${instructions.strip()}
    Log To Console              ${instructions} instructions
    Should Be Equal As Integers  ${line.Groups[0]}  ${code}

Image Should Pass
    [Arguments]                 ${core}
    Load                        ${core}  ${core}.elf
    Should End With             0


*** Test Cases ***
Cortex-M4
    Image Should Pass           cortex_m4

Cortex-M7
    Image Should Pass           cortex_m7

Cortex-M33
    Image Should Pass           cortex_m33

Renode Knows Armv8.1-M
    [Documentation]             The probe: bazel build //sim/renode/probe:cortex_m55, copied to IMAGES as probe.elf.
    [Tags]                      mve
    Load                        cortex_m55  probe.elf
    Should End With             0

Cortex-M55
    [Tags]                      mve
    Image Should Pass           cortex_m55

Cortex-M85
    [Tags]                      mve
    Image Should Pass           cortex_m85
