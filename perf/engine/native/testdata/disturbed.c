/* Maps memory, writes to it and starts processes while another process sends it signals all
 * the time: nothing may be lost, whenever a signal comes. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int signals;

static void count(int s) { (void)s; signals++; }

int main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : 1;
	signal(SIGUSR1, count);
	pid_t other = fork();
	if (other == 0) {
		pid_t parent = getppid();
		while (getppid() == parent && kill(parent, SIGUSR1) == 0)
			usleep(20);
		_exit(0);
	}
	long sum = 0;
	for (int i = 0; i < turns; i++) {
		size_t bytes = 4096 * (1 + i % 7);
		char *p = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			return 1;
		p[0] = 1, p[bytes - 1] = 2;
		sum += p[0] + p[bytes - 1];
		if (i % 50 == 0) {
			int status = -1;
			pid_t pid = fork();
			if (pid == 0)
				_exit(p[0] == 1 ? 7 : 8);
			if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 7)
				return 2;
		}
		if (munmap(p, bytes))
			return 3;
	}
	kill(other, SIGKILL);
	int status;
	waitpid(other, &status, 0);
	printf("%d turns, sum %ld, %s\n", turns, sum, signals > 0 ? "signals" : "no signals");
	return 0;
}
