// Ways out of a confined program. One that leads anywhere, even to an error of its own,
// is named in the output; so is whatever a computation needs and does not get. Arguments:
// a file of the user's, a name for a new one, and a process of the user's.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char *secret, *new;
static int other, tracer;

// reached tells that a way out is open: it failed for another reason than that it is
// denied, or did not fail.
static void reached(const char *name, long result) {
	if (result >= 0 || (errno != EPERM && errno != EACCES && errno != ENOSYS && errno != EOPNOTSUPP))
		printf("%s\n", name);
}

static void needed(const char *name, long result) {
	if (result < 0)
		printf("not %s: %s\n", name, strerror(errno));
}

#define CALL(name, number, ...) reached(name, syscall(number, __VA_ARGS__))

static long of(int pid, const char *file, int flags) {
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
	return open(path, flags);
}

// tracerOf returns the thread that traces the program.
static int tracerOf(void) {
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	int id = 0;
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "TracerPid: %d", &id) == 1)
			break;
	return id;
}

static void files(void) {
	reached("read", open(secret, O_RDONLY));
	reached("write", open(secret, O_WRONLY));
	reached("O_ACCMODE", open(secret, O_ACCMODE));
	reached("O_ACCMODE by open", syscall(SYS_open, secret, O_ACCMODE));
	for (const char **p = (const char *[]){"/etc/shadow", "/dev/ptmx", "/dev/kmsg", 0}; *p; p++)
		if (access(*p, F_OK) == 0)
			reached(*p, open(*p, O_ACCMODE));
	reached("create", open(new, O_WRONLY | O_CREAT, 0600));
	reached("creat", creat(new, 0600));
	reached("truncate", truncate(secret, 0));
	reached("truncate own", truncate("/proc/self/exe", 1 << 20));
	reached("mkdir", mkdir(new, 0700));
	reached("rename", rename(secret, new));
	reached("link", link(secret, new));
	reached("symlink", symlink(secret, new));
	reached("unlink", unlink(new));
	reached("list", open(".", O_RDONLY | O_DIRECTORY));
	reached("/etc/shadow", open("/etc/shadow", O_RDONLY));
	reached("/root", open("/root", O_RDONLY | O_DIRECTORY));
	reached("/dev/tty", open("/dev/tty", O_RDWR));
	reached("/dev/shm", open("/dev/shm", O_RDONLY | O_DIRECTORY));
	reached("openat2", syscall(SYS_openat2, AT_FDCWD, secret, (unsigned long[3]){O_RDONLY}, 24UL));
	CALL("chmod", SYS_chmod, secret, 0600);
	CALL("fchmodat", SYS_fchmodat, AT_FDCWD, secret, 0600);
	CALL("fchmodat2", 452, AT_FDCWD, secret, 0600, 0);
	CALL("chown", SYS_chown, secret, getuid(), getgid());
	CALL("utimensat", SYS_utimensat, AT_FDCWD, secret, NULL, 0);
	CALL("setxattr", SYS_setxattr, secret, "user.a", "b", 1, 0);
	CALL("getxattr", SYS_getxattr, secret, "user.a", NULL, 0);
	CALL("removexattr", SYS_removexattr, secret, "user.a");
	CALL("setxattrat", 463, AT_FDCWD, secret, 0, "user.a", NULL, 0);
	CALL("removexattrat", 466, AT_FDCWD, secret, 0, "user.a");
	CALL("file_setattr", 469, AT_FDCWD, secret, NULL, 0, 0);
	CALL("inotify", SYS_inotify_init1, 0);
	CALL("fanotify", SYS_fanotify_init, 0, 0);
	CALL("handle", SYS_name_to_handle_at, AT_FDCWD, secret, NULL, NULL, 0);
	int own = open("/proc/self/exe", O_RDONLY), flags = 0;
	needed("own executable", own);
	reached("FS_IOC_GETFLAGS", ioctl(own, 0x80086601, &flags));
	reached("FS_IOC_SETFLAGS", ioctl(own, 0x40086602, &flags));
	CALL("flock", SYS_flock, own, 8);
}

// inherited looks for files that the program has without having opened them.
static void inherited(void) {
	for (int file = 3; file < 1024; file++)
		if (fcntl(file, F_GETFD) >= 0) {
			printf("inherited\n");
			return;
		}
}

static void processes(void) {
	static char byte;
	struct iovec here = {&byte, 1}, there = {&byte, 1};
	reached("tracer's memory", of(tracer, "mem", O_RDWR));
	reached("tracer's memory, read", of(tracer, "mem", O_RDONLY));
	for (const char **p = (const char *[]){"environ", "maps", "cmdline", "status", "auxv", "fd", "task", 0}; *p; p++) {
		char name[64];
		snprintf(name, sizeof name, "tracer's %s", *p);
		reached(name, of(tracer, *p, O_RDONLY));
		reached(name, of(other, *p, O_RDONLY));
	}
	char link[64], to[64];
	for (const char **p = (const char *[]){"exe", "cwd", "root", "fd/0", 0}; *p; p++) {
		char name[64];
		snprintf(name, sizeof name, "links: %s", *p);
		snprintf(link, sizeof link, "/proc/%d/%s", tracer, *p);
		reached(name, readlink(link, to, sizeof to));
		snprintf(link, sizeof link, "/proc/%d/%s", other, *p);
		reached(name, readlink(link, to, sizeof to));
	}
	snprintf(link, sizeof link, "/proc/%d/root/etc/passwd", tracer);
	reached("tracer's root", open(link, O_RDONLY));
	reached("/proc", open("/proc", O_RDONLY | O_DIRECTORY));
	reached("/proc/1/environ", open("/proc/1/environ", O_RDONLY));
	reached("/proc/sys written", open("/proc/sys/kernel/hostname", O_WRONLY));
	reached("/proc/sys/vm written", open("/proc/sys/vm/overcommit_memory", O_WRONLY));
	reached("/proc/self/mem written", open("/proc/self/mem", O_RDWR));
	CALL("process_vm_readv", SYS_process_vm_readv, tracer, &here, 1, &there, 1, 0);
	CALL("process_vm_writev", SYS_process_vm_writev, other, &here, 1, &there, 1, 0);
	CALL("ptrace", SYS_ptrace, PTRACE_SEIZE, other, 0, 0);
	CALL("pidfd_open", SYS_pidfd_open, other, 0);
	snprintf(link, sizeof link, "/proc/%d", other);
	CALL("pidfd_send_signal", SYS_pidfd_send_signal, open(link, O_RDONLY | O_DIRECTORY), 0, NULL, 0);
	CALL("pidfd_send_signal by path", SYS_pidfd_send_signal, open(link, O_PATH | O_DIRECTORY), 0, NULL, 0);
	CALL("pidfd_getfd", SYS_pidfd_getfd, -1, 0, 0);
	CALL("kill", SYS_kill, other, 0);
	CALL("kill tracer", SYS_kill, tracer, 0);
	CALL("kill group", SYS_kill, 0, 0);
	CALL("kill all", SYS_kill, -1, 0);
	long result = syscall(SYS_tkill, other, 0); // which is no thread of the program
	reached("tkill", result < 0 && errno == ESRCH ? (errno = EPERM, -1) : result);
	CALL("tgkill", SYS_tgkill, other, other, 0);
	siginfo_t info = {.si_code = SI_QUEUE};
	CALL("rt_sigqueueinfo", SYS_rt_sigqueueinfo, other, 0, &info);
	CALL("rt_tgsigqueueinfo", SYS_rt_tgsigqueueinfo, other, other, 0, &info);
	int ends[2];
	needed("pipe", pipe(ends));
	reached("F_SETOWN", fcntl(ends[0], F_SETOWN, other));
	reached("F_SETSIG", fcntl(ends[0], F_SETSIG, SIGKILL));
	struct rlimit limit;
	CALL("prlimit64", SYS_prlimit64, other, RLIMIT_CORE, NULL, &limit);
	CALL("sched_setscheduler", SYS_sched_setscheduler, other, SCHED_OTHER, &(int){0});
	CALL("sched_setparam", SYS_sched_setparam, other, &(int){0});
	CALL("sched_setattr", SYS_sched_setattr, other, NULL, 0);
	CALL("sched_setaffinity", SYS_sched_setaffinity, other, 8, &(long){-1});
	CALL("setpriority", SYS_setpriority, PRIO_PROCESS, other, 0);
	CALL("ioprio_set", SYS_ioprio_set, 1, other, 0);
	CALL("migrate_pages", SYS_migrate_pages, other, 0, NULL, NULL);
	CALL("move_pages", SYS_move_pages, other, 0, NULL, NULL, NULL, 0);
	CALL("process_madvise", SYS_process_madvise, -1, NULL, 0, 0, 0);
	CALL("kcmp", SYS_kcmp, other, tracer, 0, 0, 0);
	CALL("get_robust_list", SYS_get_robust_list, other, NULL, NULL);
	CALL("setpgid", SYS_setpgid, 0, 0);
	CALL("PR_SCHED_CORE", SYS_prctl, 62, 0, other, 0, 0);
	CALL("PR_SET_PTRACER", SYS_prctl, 0x59616d61, -1, 0, 0, 0);
}

static void kernel(void) {
	reached("socket", socket(AF_INET, SOCK_STREAM, 0));
	reached("unix socket", socket(AF_UNIX, SOCK_STREAM, 0));
	reached("netlink", socket(AF_NETLINK, SOCK_RAW, 0));
	reached("socketpair", socketpair(AF_UNIX, SOCK_DGRAM, 0, (int[2]){0}));
	reached("connect", connect(-1, NULL, 0));
	reached("sendto", sendto(-1, "", 1, 0, NULL, 0));
	CALL("shmget", SYS_shmget, 1, 1, 0);
	CALL("shmctl", SYS_shmctl, 1, 0, NULL);
	CALL("msgget", SYS_msgget, 1, 0);
	CALL("semget", SYS_semget, 1, 1, 0);
	CALL("mq_open", SYS_mq_open, "a", O_RDONLY, 0, NULL);
	CALL("io_uring_setup", SYS_io_uring_setup, 0, NULL);
	CALL("io_setup", SYS_io_setup, 0, NULL);
	CALL("bpf", SYS_bpf, 0, NULL, 0);
	CALL("perf_event_open", SYS_perf_event_open, NULL, 0, -1, -1, 0);
	CALL("userfaultfd", SYS_userfaultfd, 1 << 30);
	CALL("add_key", SYS_add_key, NULL, NULL, NULL, 0, 0);
	CALL("keyctl", SYS_keyctl, 0, -1, 0, 0, 0);
	CALL("quotactl", SYS_quotactl, 0, NULL, 0, NULL);
	CALL("unshare", SYS_unshare, CLONE_NEWUSER);
	CALL("setns", SYS_setns, -1, 0);
	CALL("mount", SYS_mount, NULL, NULL, NULL, 0, NULL);
	CALL("umount", SYS_umount2, new, 0);
	CALL("open_tree", SYS_open_tree, AT_FDCWD, secret, 0);
	CALL("fsopen", SYS_fsopen, NULL, 0);
	CALL("move_mount", SYS_move_mount, -1, NULL, -1, NULL, 0);
	CALL("mount_setattr", SYS_mount_setattr, -1, NULL, 0, NULL, 0);
	CALL("chroot", SYS_chroot, new);
	CALL("pivot_root", SYS_pivot_root, new, new);
	CALL("modify_ldt", SYS_modify_ldt, 0, NULL, 0);
	CALL("pkey_mprotect", SYS_pkey_mprotect, NULL, 0, 0, -1);
	CALL("remap_file_pages", SYS_remap_file_pages, NULL, 0, 1, 0, 0);
	CALL("splice", SYS_splice, -1, NULL, -1, NULL, 0, 0);
	CALL("setuid", SYS_setuid, getuid());
	CALL("clock_settime", SYS_clock_settime, 0, NULL);
	CALL("syslog", SYS_syslog, 10, NULL, 0);
	CALL("seccomp", SYS_seccomp, 2, 0, NULL, 0, 0);
	CALL("execve", SYS_execve, "/none", NULL, NULL);
	CALL("execveat", SYS_execveat, -1, "", NULL, NULL, 0);
	CALL("an unknown call", 1000, 0);
	long result; // the kernel looks at half of the number
	__asm__ volatile("syscall" : "=a"(result) : "a"(1L << 32 | SYS_socket), "D"(AF_INET), "S"(SOCK_STREAM), "d"(0) : "rcx", "r11", "memory");
	errno = -result;
	reached("a long number", result);
}

// spawning goes last: a child leaves at once.
static void spawning(void) {
	long pid = fork();
	if (pid == 0)
		_exit(0);
	reached("fork", pid);
	pid = vfork();
	if (pid == 0)
		_exit(0);
	reached("vfork", pid);
	pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(0);
	reached("clone", pid);
	pid = syscall(SYS_clone3, (unsigned long[8]){[4] = SIGCHLD}, 64UL);
	if (pid == 0)
		_exit(0);
	reached("clone3", pid);
}

static volatile int caught;
static void handle(int s) { caught += s; }

static void computation(void) {
	struct stat status;
	needed("tracer", tracer ? 0 : -1);
	needed("/etc/passwd", open("/etc/passwd", O_RDONLY));
	needed("/proc/self/maps", open("/proc/self/maps", O_RDONLY));
	needed("/proc/thread-self/status", open("/proc/thread-self/status", O_RDONLY));
	needed("/proc/cpuinfo", open("/proc/cpuinfo", O_RDONLY));
	needed("/dev/null", open("/dev/null", O_WRONLY | O_TRUNC));
	needed("/dev/urandom", open("/dev/urandom", O_RDONLY));
	needed("/usr", open("/usr/bin", O_RDONLY | O_DIRECTORY));
	needed("stat", stat(secret, &status));
	signal(SIGUSR1, handle);
	needed("raise", raise(SIGUSR1));
	needed("kill", kill(getpid(), SIGUSR1));
	needed("tkill", syscall(SYS_tkill, gettid(), SIGUSR1));
	needed("sigqueue", sigqueue(getpid(), SIGUSR1, (union sigval){0}));
	needed("signals", caught == 4 * SIGUSR1 ? 0 : -1);
	needed("memfd", memfd_create("a", 0));
	needed("prctl", syscall(SYS_prctl, 15, "name", 0, 0, 0));
	needed("limit", getrlimit(RLIMIT_STACK, &(struct rlimit){0}));
}

static void *attempt(void *unused) {
	computation();
	files();
	processes();
	kernel();
	spawning();
	return unused;
}

int main(int argc, char **argv) {
	setvbuf(stdout, NULL, _IONBF, 0); // or children would write it again
	inherited();
	secret = argv[1], new = argv[2], other = atoi(argv[3]), tracer = tracerOf();
	pthread_t t;
	if (argc > 4)
		attempt(NULL);
	else if (pthread_create(&t, NULL, attempt, NULL) || pthread_join(t, NULL))
		return 1;
	return 0;
}
