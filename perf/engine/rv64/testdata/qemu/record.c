/* A qemu plugin (interface version 1) that writes the address of every executed
   instruction to the file named by its argument "pcs", and every memory access
   to the one named by "accesses", as address<<8 | log2(size)<<1 | store, in
   native 64-bit words. The part of the interface that it uses is declared here,
   because no package ships the header. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t plugin_id;
struct tb;
struct instruction;
typedef uint32_t access_info;

extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct tb *));
extern size_t qemu_plugin_tb_n_insns(const struct tb *);
extern struct instruction *qemu_plugin_tb_get_insn(const struct tb *, size_t);
extern uint64_t qemu_plugin_insn_vaddr(const struct instruction *);
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct instruction *, void (*)(unsigned, void *), int, void *);
extern void qemu_plugin_register_vcpu_mem_cb(struct instruction *, void (*)(unsigned, access_info, uint64_t, void *), int, int, void *);
extern unsigned qemu_plugin_mem_size_shift(access_info);
extern _Bool qemu_plugin_mem_is_store(access_info);
extern void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);

int qemu_plugin_version = 1;

enum { no_registers = 0, loads_and_stores = 3 };

static FILE *pcs, *accesses;

static void put(FILE *f, uint64_t v) { fwrite(&v, sizeof v, 1, f); }

static void execute(unsigned cpu, void *pc) {
    (void)cpu;
    put(pcs, (uintptr_t)pc);
}

static void touch(unsigned cpu, access_info info, uint64_t addr, void *pc) {
    (void)cpu, (void)pc;
    put(accesses, addr << 8 | qemu_plugin_mem_size_shift(info) << 1 | qemu_plugin_mem_is_store(info));
}

static void translate(plugin_id id, struct tb *tb) {
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct instruction *in = qemu_plugin_tb_get_insn(tb, i);
        void *pc = (void *)(uintptr_t)qemu_plugin_insn_vaddr(in);
        if (pcs)
            qemu_plugin_register_vcpu_insn_exec_cb(in, execute, no_registers, pc);
        if (accesses)
            qemu_plugin_register_vcpu_mem_cb(in, touch, no_registers, loads_and_stores, pc);
    }
}

static void finish(plugin_id id, void *data) {
    (void)id, (void)data;
    if (pcs)
        fclose(pcs);
    if (accesses)
        fclose(accesses);
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
    (void)info;
    for (int i = 0; i < argc; i++) {
        FILE **f = NULL;
        const char *value = strchr(argv[i], '=');
        if (value && !strncmp(argv[i], "pcs=", 4))
            f = &pcs;
        else if (value && !strncmp(argv[i], "accesses=", 9))
            f = &accesses;
        if (!f || !(*f = fopen(value + 1, "wb")))
            return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    qemu_plugin_register_atexit_cb(id, finish, NULL);
    return 0;
}
