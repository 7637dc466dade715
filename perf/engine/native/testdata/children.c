/* Reads what each of many processes writes into a pipe, while signals tell of their ends:
 * calls have to return what they would, whenever a signal comes, and are made again after
 * its handler. With "busy" another thread maps and unmaps memory meanwhile, with "idle" one
 * waits for a byte until the end. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int ended, over, wrong;
static int last[2];

static void on_child(int s) { (void)s; ended++; }

static void *busy(void *none)
{
	for (volatile int k = 1; !over; k++)
		if (k % 4096 == 0) {
			char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (p == MAP_FAILED || (p[7] = 1, munmap(p, 4096)))
				wrong++;
		}
	return none;
}

static void *idle(void *none)
{
	char c = 0;
	if (read(last[0], &c, 1) != 1 || c != 'x')
		wrong++;
	return none;
}

static int lost_of(int i)
{
	int ends[2];
	if (pipe(ends))
		return 1;
	pid_t pid = fork();
	if (pid == 0) {
		if (i % 2)
			usleep(2000);
		_exit(write(ends[1], "abc", 3) != 3);
	}
	close(ends[1]);
	char text[8];
	int got = 0, n, status = -1, lost = 0;
	while ((n = read(ends[0], text + got, 3 - got)) > 0)
		got += n;
	lost += n < 0 || got != 3 || text[0] != 'a' || text[2] != 'c';
	close(ends[0]);
	return lost + (waitpid(pid, &status, 0) != pid || status != 0);
}

int main(int argc, char **argv)
{
	int processes = argc > 1 ? atoi(argv[1]) : 1, lost = 0;
	const char *other = argc > 2 ? argv[2] : "";
	pthread_t t;
	if (pipe(last))
		return 2;
	signal(SIGCHLD, on_child); /* with SA_RESTART */
	if (*other)
		pthread_create(&t, 0, strcmp(other, "idle") ? busy : idle, 0);
	for (int i = 0; i < processes; i++)
		lost += lost_of(i);
	over = 1;
	lost += write(last[1], "x", 1) != 1;
	if (*other)
		pthread_join(t, 0);
	lost += wrong;
	printf("%d processes, %d lost, %s\n", processes, lost, ended > 0 && ended <= processes ? "signals" : "no signals");
	return lost != 0;
}
