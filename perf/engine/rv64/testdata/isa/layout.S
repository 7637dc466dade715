# What bare-metal instruction-set tests rely on, under a user ABI: no stack, no
# library, gp as the number of the check, text at whatever address it was
# linked for, and an exit with status 0 or the number of the failed check.
    .option norelax
    .option nopic

    .macro check number
    li gp, \number
    .endm

    .section .tohost, "aw", @progbits
    .align 6
tohost:
    .dword 0
    .align 6
fromhost:
    .dword 0

    .text
    .globl _start
_start:
    # The initial state that tests rely on: no flag raised, nearest even.
    check 1
    frcsr t0
    bnez t0, fail
    # sp may hold any value.
    li sp, 0x1234

    # Everything is executed often enough to be translated.
    li s11, 40
round:
    # A 4-byte instruction across a page boundary.
    check 2
    li a1, 666
    j straddle
back:
    li t1, 667
    bne a1, t1, fail

#ifndef RELOCATED
    # auipc gives the full address here, not one sign-extended from 32 bits.
    check 3
    la t0, _start
    la t1, address
    ld t1, 0(t1)
    bne t0, t1, fail
#endif

    # jalr with the same source and link register; the lowest bit is ignored; the
    # link is the address after the instruction.
    check 4
    la t0, 1f
    addi t0, t0, 1
    jalr t0, t0, 0
0:  j fail
1:  la t1, 0b
    bne t0, t1, fail
    check 5
    la t0, 1f
    addi t0, t0, -2000
    jalr x0, 2000(t0)
    j fail
1:  jal s0, 1f
0:  j fail
1:  la t1, 0b
    bne s0, t1, fail

    # Reservations: none, another's, used up, one's own in a loop.
    check 6
    la a0, word
    sc.w a4, x0, (a0)
    li t0, 1
    bne a4, t0, fail
    check 7
    addi a1, a0, 1024
    lr.w a1, (a1)
    sc.w a4, a1, (a0)
    bne a4, t0, fail
    check 8
    sw x0, 0(a0)
    li a1, 100
1:  lr.w a4, (a0)
    addi a4, a4, 3
    sc.w a4, a4, (a0)
    bnez a4, 1b
    addi a1, a1, -1
    bnez a1, 1b
    lw a2, 0(a0)
    li t0, 300
    bne a2, t0, fail
    check 9
    sc.w a4, a2, (a0)
    beqz a4, fail

    # Unaligned accesses across the page boundary in the data.
    check 10
    la s0, boundary
    li t1, 0x8182838485868788
    sd t1, -3(s0)
    lw t2, -1(s0)
    li t3, 0xffffffff83848586
    bne t2, t3, fail
    lhu t2, -1(s0)
    li t3, 0x8586
    bne t2, t3, fail
    check 11
    fld fa0, -3(s0)
    fsd fa0, -5(s0)
    ld t2, -5(s0)
    bne t1, t2, fail
    fsw fa0, -2(s0)
    lw t2, -2(s0)
    li t3, 0xffffffff85868788
    bne t2, t3, fail

    # Instructions raise flags, and fsflags clears them.
    check 12
    la t0, numbers
    fld fa0, 0(t0)
    fld fa1, 8(t0)
    fsflags x0
    fdiv.d fa2, fa0, fa1
    fsflags a1, x0
    li t1, 1
    bne a1, t1, fail
    frflags a1
    bnez a1, fail
    check 13
    fcvt.wu.d a0, fa2, rup
    fsflags a1, x0
    bne a0, t1, fail
    bne a1, t1, fail
    fneg.d fa2, fa1
    fcvt.lu.d a0, fa2
    fsflags a1, x0
    bnez a0, fail
    li t1, 16
    bne a1, t1, fail
    fclass.d a0, fa2
    li t1, 2
    bne a0, t1, fail

    # Writing there is an ordinary store.
    check 14
    la t0, tohost
    li t1, 5
    sd t1, 0(t0)
    ld t2, 0(t0)
    bne t1, t2, fail

    # Counters advance. They cannot be written here (not checked, as that traps).
    check 15
    rdinstret t0
    rdcycle t1
    rdtime t2
    rdinstret t3
    bgeu t0, t3, fail

#ifdef SELF
    # The program's own text, rewritten before fence.i: the next instruction,
    # and the second half of one that straddles pages.
    check 16
    la a0, fresh
    lw a0, 0(a0)
    la a1, 1f
    lw s1, 0(a1)
    li a3, 111
    sw a0, 0(a1)
    fence.i
1:  addi a3, a3, 222
    li t0, 444
    bne a3, t0, fail
    sw s1, 0(a1)
    fence.i
    check 17
    la a1, straddle
    lhu s1, 2(a1)
    li t0, 0x00358593 >> 16 # addi a1, a1, 3
    sh t0, 2(a1)
    fence.i
    li s10, 1
    li a1, 7
    j straddle
again:
    li s10, 0
    li t0, 10
    bne a1, t0, fail
    la a1, straddle
    sh s1, 2(a1)
    fence.i
#endif

    addi s11, s11, -1
    bnez s11, round
    li a0, 0
    li a7, 93
    fence
    ecall
fail:
    mv a0, gp
    li a7, 93
    fence
    ecall
    j fail

    .align 12
    .skip 4094
straddle:
    .option push
    .option norvc
    addi a1, a1, 1
    .option pop
#ifdef SELF
    bnez s10, again
#endif
    j back
fresh:
    addi a3, a3, 333

    .data
    .align 3
address:
    .dword _start
numbers:
    .double 1, 3
word:
    .word 0
    .align 12
    .skip 4096
boundary:
    .skip 64
    .bss
    .skip 5000
