/* Loaded into nvdisasm (LD_PRELOAD) by disassembler.py. It opens the code twice: at its start, to see what it is, and when
   all tables of the architecture are read. There it stays, and forks for each path that it is told on stdin: the child goes
   on with that file, and writes to PATH.out and PATH.err. Its status goes to stdout. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef FILE *opener(const char *, const char *);

static void redirect(int handle, const char *path, const char *suffix) {
    char name[4200];
    snprintf(name, sizeof name, "%s.%s", path, suffix);
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, handle) < 0) _exit(127);
    close(file);
}

static FILE *serve(opener *real) {
    char path[4096];
    while (fgets(path, sizeof path, stdin)) {
        path[strcspn(path, "\n")] = 0;
        pid_t child = fork();
        if (child == 0) {
            redirect(1, path, "out");
            redirect(2, path, "err");
            return real(path, "rb");
        }
        int status = -1;
        if (child > 0) waitpid(child, &status, 0);
        dprintf(1, "%d\n", status);
    }
    _exit(0);
}

FILE *fopen(const char *path, const char *mode) {
    static int times;
    opener *real = (opener *)dlsym(RTLD_NEXT, "fopen");
    const char *name = path ? strrchr(path, '/') : 0;
    int code = name && !strcmp(name, "/served.bin") && ++times == 2;
    return code ? serve(real) : real(path, mode);
}

FILE *fopen64(const char *path, const char *mode) { return fopen(path, mode); }
