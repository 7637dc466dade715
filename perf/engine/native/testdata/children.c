/* Reads what each of many processes writes into a pipe, while signals tell of their ends:
 * read has to return it, whenever the signal comes. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int ended;

static void on_child(int s) { (void)s; ended++; }

int main(int argc, char **argv)
{
	int processes = argc > 1 ? atoi(argv[1]) : 1, lost = 0;
	signal(SIGCHLD, on_child);
	for (int i = 0; i < processes; i++) {
		int ends[2];
		if (pipe(ends))
			return 2;
		pid_t pid = fork();
		if (pid == 0) {
			_exit(write(ends[1], "abc", 3) != 3);
		}
		close(ends[1]);
		/* the signal may come before any of these */
		for (int k = 0; k < 20; k++)
			if (lseek(ends[0], 0, SEEK_CUR) != -1 || errno != ESPIPE)
				lost++;
		char text[8];
		int got = 0, n;
		while ((n = read(ends[0], text + got, 3 - got)) > 0 || (n < 0 && errno == EINTR))
			got += n > 0 ? n : 0;
		close(ends[0]);
		int status = -1;
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (got != 3 || text[0] != 'a' || text[2] != 'c' || status != 0)
			lost++;
	}
	printf("%d processes, %d lost, %s\n", processes, lost, ended > 0 && ended <= processes ? "signals" : "no signals");
	return lost != 0;
}
