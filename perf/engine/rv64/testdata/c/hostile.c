/* Mounts one of the attacks of a hostile program, and prints how far it
 * got. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096 };

static int mmap_bomb(void)
{
	for (long n = 0;; n++) {
		char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED) {
			printf("mmap %d\n", errno == ENOMEM);
			fflush(stdout);
			abort();
		}
		memset(p, 1, 1 << 20);
	}
}

/* Reserves memory, and makes the reservation accessible bit by bit. */
static int protect_bomb(void)
{
	char *p = mmap(NULL, 1 << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (long i = 0; i < 1 << 30; i += 1 << 20)
		if (mprotect(p + i, 1 << 20, PROT_READ | PROT_WRITE) != 0) {
			printf("mprotect %d\n", errno == ENOMEM);
			fflush(stdout);
			return 1;
		}
	return 0;
}

static int brk_bomb(void)
{
	while (sbrk(1 << 20) != (void *)-1)
		;
	printf("brk %d\n", errno == ENOMEM);
	fflush(stdout);
	return 1;
}

/* Changes the permissions of every other page, or unmaps it. */
static int checkers(int unmap)
{
	enum { PAGES = 200000 };
	char *p = mmap(NULL, (long)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long n = 0;
	for (; n < PAGES / 2; n++) {
		char *q = p + 2 * n * PAGE;
		q[0] = q[PAGE] = 1;
		if ((unmap ? munmap(q, PAGE) : mprotect(q, PAGE, PROT_READ)) != 0)
			break;
	}
	printf("%d, enough %d\n", n < PAGES / 2 && errno == ENOMEM, n > 5000);
	for (long i = 0; i < n; i++)
		p[(2 * i + 1) * PAGE]++;
	printf("whole again %d\n", munmap(p, (long)PAGES * PAGE));
	return 0;
}

static int descriptors(void)
{
	int n = 0, fd[2];
	while (open("/dev/null", O_RDONLY) >= 0)
		n++;
	printf("open %d %d\n", n, errno == EMFILE);
	printf("dup %d", dup(0) < 0 && errno == EMFILE);
	printf(" pipe %d", pipe(fd) < 0 && errno == EMFILE);
	close(5);
	printf(" pipe %d", pipe(fd) < 0 && errno == EMFILE);
	printf(" eventfd %d", eventfd(0, 0)); /* the descriptor that a half-made pipe must not keep */
	printf(" epoll %d\n", epoll_create1(0) < 0 && errno == EMFILE);
	return 0;
}

/* Watches one new file after another under the same number. */
static int watches(void)
{
	int ep = epoll_create1(0);
	for (int i = 0; i < 20000; i++) {
		int fd = eventfd(0, 0);
		struct epoll_event e = {EPOLLIN, {.u64 = i}};
		if (epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e) != 0)
			return 1;
		close(fd);
	}
	return 0;
}

static int flood(void)
{
	static char text[1 << 16];
	memset(text, 'x', sizeof text);
	for (int i = 0; i < 4096; i++)
		if (write(1, text, sizeof text) != sizeof text)
			return 1;
	return 0;
}

static void say(const char *what, int result)
{
	printf("%s %s\n", what, result >= 0 ? "done" : strerror(errno));
}

static int escape(char **path, int n)
{
	char buf[256];
	int in = open("/in", O_RDONLY | O_DIRECTORY), out = open("/out", O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < n; i++)
		say(path[i], open(path[i], O_RDONLY));
	say("openat ../s.txt", openat(in, "../secret/s.txt", O_RDONLY));
	say("through a link", openat(in, "folder/s.txt", O_RDONLY));
	say("stat of a link's target", faccessat(in, "link", F_OK, 0));
	say("create through a link", openat(out, "folder/new", O_WRONLY | O_CREAT, 0644));
	say("mkdir through a link", mkdirat(out, "folder/d", 0755));
	say("unlink through a link", unlinkat(out, "folder/s.txt", 0));
	say("rename out", renameat(out, "mine", out, "folder/mine"));
	say("rename up", renameat(out, "mine", out, "../mine"));
	say("rename in", renameat(out, "folder/s.txt", out, "stolen"));
	say("symlink", symlinkat("/etc/passwd", out, "evil"));
	say("link", linkat(out, "folder/s.txt", out, "evil", 0));
	say("truncate what is read-only", openat(in, "a.txt", O_RDONLY | O_TRUNC));
	say("create where is read-only", openat(in, "new", O_WRONLY | O_CREAT, 0644));
	say("unlink where is read-only", unlinkat(in, "a.txt", 0));
	say("chmod where is read-only", fchmodat(in, "a.txt", 0777, 0));
	say("/proc", open("/proc/self/mem", O_RDWR));
	say("chdir out", chdir("/secret"));
	memset(buf, 0, sizeof buf);
	say("readlink", readlinkat(in, "link", buf, sizeof buf));
	printf("socket %d, fork %d, exec %d\n", (int)syscall(SYS_socket, 2, 1, 0) < 0, (int)fork() < 0, execl("/bin/sh", "sh", NULL) < 0);
	return 0;
}

int main(int argc, char **argv)
{
	switch (argc > 1 ? argv[1][0] : ' ') {
	case 'm': return mmap_bomb();
	case 'p': return protect_bomb();
	case 'b': return brk_bomb();
	case 'c': return checkers(0);
	case 'u': return checkers(1);
	case 'd': return descriptors();
	case 'w': return watches();
	case 'f': return flood();
	case 'e': return escape(argv + 2, argc - 2);
	case 'k': raise(SIGTERM);
	}
	return 9;
}
