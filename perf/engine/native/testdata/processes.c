// Starts processes, one for each letter of the second argument, and waits for them. All
// but those that replace themselves by another program do ten times the work that the
// first argument asks of this process.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long data[1000];
static char *command[] = {"true", NULL};

static void work(long n) {
	for (long i = 0; i < n; i++)
		data[i % 1000] = i;
}

static void *thread(void *n) {
	work((long)n);
	return NULL;
}

static pid_t vforked(void) {
	pid_t child = vfork();
	if (child == 0) {
		execv("/bin/true", command);
		_exit(1);
	}
	return child;
}

static pid_t spawned(void) {
	pid_t child;
	return posix_spawn(&child, "/bin/true", NULL, NULL, command, environ) ? -1 : child;
}

int main(int argc, char **argv) {
	long n = atol(argv[1]);
	pthread_t other;
	work(n);
	for (const char *how = argv[2]; *how; how++) {
		pid_t child = -1;
		switch (*how) {
		case 'f': child = fork(); break;
		case 'v': child = vforked(); break;
		case 's': child = spawned(); break;
		case 'c': child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); break;
		case 'q': child = syscall(SYS_clone, 0, 0, 0, 0, 0); break; // ends without a signal
		case 'g': // a process with one of its own
			if ((child = fork()) == 0)
				waitpid(fork(), NULL, 0);
			break;
		case 't':
			pthread_create(&other, NULL, thread, (void *)n);
			pthread_join(other, NULL);
			continue;
		}
		if (child < 0)
			return 2;
		if (child == 0) {
			work(10 * n);
			_exit(0);
		}
		if (waitpid(child, NULL, __WALL) != child)
			return 3;
	}
	return 0;
}
