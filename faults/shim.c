/* Stands between a program and the system: one call of many fails, is cut short, is late, or is the last that happens.
 *
 * Loaded with LD_PRELOAD; what it does is said by variables (see faults/shim.py, which sets them):
 *
 *   AOT_SHIM_COUNT  a file of 8 bytes in which all processes together count the calls that concern them
 *   AOT_SHIM_UNDER  folders, with ':' between them: only what happens to files in there counts
 *   AOT_SHIM_CALLS  which calls count: open create read write sync rename mkdir unlink truncate, with ',' between them
 *   AOT_SHIM_AT     the number of the call that is struck, from 1; 0: none, they are only counted
 *   AOT_SHIM_DO     ENOSPC, EIO, EDQUOT, EACCES or EMFILE: it fails so; short: half of the bytes; torn: half of the bytes, then the
 *                   process is killed; kill: it is killed before; killed-after: after
 *   AOT_SHIM_ON     1: all calls after that one, too (a disk that is full stays full)
 *   AOT_SHIM_TOLD   a file to which a line is added for each call that is struck (or counted, if none is): program, call, path
 *   AOT_SHIM_SINCE  a file: calls count as soon as it is there
 *   AOT_SHIM_OF     a pattern: only calls on paths that match it count ('*' matches '/', too)
 *   AOT_SHIM_PAUSE  microseconds that each of these calls takes longer
 *   AOT_SHIM_CLOCK  seconds, with ',' between them: each call for the time of day is moved by the next of them
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static _Atomic uint64_t *counted;
static const char *under, *calls, *deed, *jumps, *told, *of, *since;
static __thread char concerned[2 * PATH_MAX];
/* The path of the call that this thread makes. */
static uint64_t at;
static int goes_on;
static long pause_us;
static _Atomic unsigned asked_for_time;

__attribute__((constructor)) static void begin(void) {
    const char *count = getenv("AOT_SHIM_COUNT"), *text;
    under = getenv("AOT_SHIM_UNDER");
    calls = getenv("AOT_SHIM_CALLS");
    deed = getenv("AOT_SHIM_DO");
    told = getenv("AOT_SHIM_TOLD");
    of = getenv("AOT_SHIM_OF");
    since = getenv("AOT_SHIM_SINCE");
    jumps = getenv("AOT_SHIM_CLOCK");
    at = (text = getenv("AOT_SHIM_AT")) ? strtoull(text, NULL, 10) : 0;
    goes_on = (text = getenv("AOT_SHIM_ON")) && *text == '1';
    pause_us = (text = getenv("AOT_SHIM_PAUSE")) ? atol(text) : 0;
    if (!count || !under || !calls) return;
    int fd = syscall(SYS_openat, AT_FDCWD, count, O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    void *shared = mmap(NULL, sizeof *counted, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (shared != MAP_FAILED) counted = shared;
}

/* --- which calls ------------------------------------------------------------------------------------------------ */

static int is_listed(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *one = list; one; one = strchr(one, ',') ? strchr(one, ',') + 1 : NULL)
        if (!strncmp(one, word, length) && (one[length] == ',' || !one[length])) return 1;
    return 0;
}

static int is_under(const char *path) {
    for (const char *one = under; *one;) {
        const char *end = strchrnul(one, ':');
        size_t length = end - one;
        if (length && !strncmp(path, one, length) && (path[length] == '/' || !path[length])) return 1;
        one = *end ? end + 1 : end;
    }
    return 0;
}

static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return 1;
}

static int is_of(void) { return is_under(concerned) && (!of || !*of || !fnmatch(of, concerned, 0)); }

static int concerns_path(int folder, const char *path) {
    if (!counted || !path) return 0;
    concerned[0] = 0;
    if (path[0] != '/') {
        if (folder == AT_FDCWD ? !getcwd(concerned, PATH_MAX) : !path_of(folder, concerned)) return 0;
        strcat(concerned, "/");
    }
    strncat(concerned, path, PATH_MAX - 1);
    return is_of();
}

static int concerns(int fd) {
    int before = errno, answer = counted && path_of(fd, concerned) && is_of();
    errno = before;
    return answer;
}

static void tell(const char *call) {
    char line[2 * PATH_MAX + 128];
    int before = errno, size = snprintf(line, sizeof line, "%s %s %s\n", program_invocation_short_name, call, concerned);
    int fd = syscall(SYS_openat, AT_FDCWD, told, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd >= 0) {
        (void)!syscall(SYS_write, fd, line, size);
        syscall(SYS_close, fd);
    }
    errno = before;
}

static int is_struck(const char *call) {
    int before = errno;
    if (!is_listed(calls, call)) return 0;
    if (since && *since && access(since, F_OK)) return errno = before, 0;
    uint64_t number = atomic_fetch_add(counted, 1) + 1;
    if (pause_us) usleep(pause_us);
    int is_struck = at && (number == at || (goes_on && number > at));
    if (told && (is_struck || !at)) tell(call);
    return is_struck;
}

static void die(void) { syscall(SYS_kill, syscall(SYS_getpid), SIGKILL); }

static int is_deed(const char *word) { return deed && !strcmp(deed, word); }

/* 1: the call fails, and errno says how */
static int fails(void) {
    static const struct { const char *name; int number; } errors[] = {
        {"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EDQUOT", EDQUOT}, {"EACCES", EACCES}, {"EMFILE", EMFILE}};
    if (is_deed("kill")) die();
    for (size_t one = 0; one < sizeof errors / sizeof *errors; one++)
        if (is_deed(errors[one].name)) return errno = errors[one].number, 1;
    return 0;
}

#define REAL(name) ({ static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name); real; })

#define STRIKE(word, concerned, call) \
    int struck = (concerned) && is_struck(word); \
    if (struck && fails()) return -1; \
    __typeof__(call) result = call; \
    if (struck && is_deed("killed-after")) die(); \
    return result

#define STRIKE_BYTES(word, fd, size, whole, half) \
    int struck = concerns(fd) && is_struck(word); \
    if (struck && fails()) return -1; \
    if (struck && (is_deed("short") || is_deed("torn")) && (size) > 1) { \
        ssize_t done = half; \
        if (is_deed("torn")) die(); \
        return done; \
    } \
    ssize_t result = whole; \
    if (struck && is_deed("killed-after")) die(); \
    return result

/* --- the calls -------------------------------------------------------------------------------------------------- */

ssize_t write(int fd, const void *data, size_t size) {
    STRIKE_BYTES("write", fd, size, REAL(write)(fd, data, size), REAL(write)(fd, data, size / 2));
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t place) {
    STRIKE_BYTES("write", fd, size, REAL(pwrite64)(fd, data, size, place), REAL(pwrite64)(fd, data, size / 2, place));
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t place) { return pwrite64(fd, data, size, place); }

ssize_t read(int fd, void *data, size_t size) {
    STRIKE_BYTES("read", fd, size, REAL(read)(fd, data, size), REAL(read)(fd, data, size / 2));
}

int fsync(int fd) { STRIKE("sync", concerns(fd), REAL(fsync)(fd)); }
int fdatasync(int fd) { STRIKE("sync", concerns(fd), REAL(fdatasync)(fd)); }
int ftruncate64(int fd, off64_t size) { STRIKE("truncate", concerns(fd), REAL(ftruncate64)(fd, size)); }
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int renameat(int from, const char *old, int to, const char *new) {
    STRIKE("rename", concerns_path(to, new), REAL(renameat)(from, old, to, new));
}
int rename(const char *old, const char *new) {
    STRIKE("rename", concerns_path(AT_FDCWD, new), REAL(rename)(old, new));
}

int mkdirat(int folder, const char *path, mode_t mode) {
    STRIKE("mkdir", concerns_path(folder, path), REAL(mkdirat)(folder, path, mode));
}
int mkdir(const char *path, mode_t mode) { STRIKE("mkdir", concerns_path(AT_FDCWD, path), REAL(mkdir)(path, mode)); }

int unlinkat(int folder, const char *path, int flags) {
    STRIKE("unlink", concerns_path(folder, path), REAL(unlinkat)(folder, path, flags));
}
int unlink(const char *path) { STRIKE("unlink", concerns_path(AT_FDCWD, path), REAL(unlink)(path)); }

static int opened(int folder, const char *path, int flags, mode_t mode) {
    STRIKE(flags & O_CREAT ? "create" : "open", concerns_path(folder, path), (int)syscall(SYS_openat, folder, path, flags | O_LARGEFILE, mode));
}

#define MODE(flags) ({ va_list more; mode_t mode = 0; if ((flags) & (O_CREAT | __O_TMPFILE)) { \
    va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); } mode; })

int open(const char *path, int flags, ...) { return opened(AT_FDCWD, path, flags, MODE(flags)); }
int open64(const char *path, int flags, ...) { return opened(AT_FDCWD, path, flags, MODE(flags)); }
int openat(int folder, const char *path, int flags, ...) { return opened(folder, path, flags, MODE(flags)); }
int openat64(int folder, const char *path, int flags, ...) { return opened(folder, path, flags, MODE(flags)); }

/* --- the time of day -------------------------------------------------------------------------------------------- */

static long jump(void) {
    unsigned number = atomic_fetch_add(&asked_for_time, 1), length = 1;
    if (!jumps || !*jumps) return 0;
    for (const char *one = jumps; *one; one++) length += *one == ',';
    const char *one = jumps;
    for (number %= length; number; number--) one = strchr(one, ',') + 1;
    return atol(one);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = syscall(SYS_clock_gettime, clock, now);
    if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += jump();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec found;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &found);
    now->tv_sec = found.tv_sec;
    now->tv_usec = found.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *into) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (into) *into = found.tv_sec;
    return found.tv_sec;
}
