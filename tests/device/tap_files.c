/* SPDX-License-Identifier: MIT */
/*
 * tap_files - files that write down what is done to them, for tests that compare two programs:
 *
 *	tap_files MOUNT LOG NAME=BYTES...
 *
 * A FUSE file system with these files, in memory; it stays in the foreground until it is
 * unmounted. Each read, write and flush is one record of LOG, in the order of arrival: struct
 * tapped below, in the byte order of the machine. Reads of files past their size end there;
 * sizes cannot be changed. Direct I/O arrives as it was issued, up to 1 MiB.
 */

#define FUSE_USE_VERSION 31

#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILES 64
#define REQUEST_BYTES (1u << 20)

struct tapped {
	uint64_t offset_bytes;
	uint32_t length_bytes;
	uint32_t thread;	/* who asked */
	uint32_t file;		/* index on the command line */
	uint32_t kind;		/* 0 read, 1 write, 2 flush */
};

static struct tap_file {
	char name[64];
	size_t bytes;
	char *data;
} files[FILES];
static uint32_t file_count;
static int log_fd = -1;

static void record(uint32_t file, uint32_t kind, uint64_t offset_bytes, size_t length_bytes)
{
	const struct tapped tapped = {
		.offset_bytes = offset_bytes,
		.length_bytes = (uint32_t)length_bytes,
		.thread = (uint32_t)fuse_get_context()->pid,
		.file = file,
		.kind = kind,
	};

	/* A record that is lost would be taken for a request that was not made. */
	if (write(log_fd, &tapped, sizeof(tapped)) != sizeof(tapped))
		abort();
}

static int find(const char *path)
{
	for (uint32_t i = 0; i < file_count; i++) {
		if (strcmp(path + 1, files[i].name) == 0)
			return (int)i;
	}
	return -ENOENT;
}

static void *tap_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
	(void)config;
	connection->max_read = connection->max_write = REQUEST_BYTES;
	return NULL;
}

static int tap_getattr(const char *path, struct stat *st, struct fuse_file_info *info)
{
	const int i = find(path);

	(void)info;
	memset(st, 0, sizeof(*st));
	if (strcmp(path, "/") == 0) {
		st->st_mode = S_IFDIR | 0755;
		st->st_nlink = 2;
		return 0;
	}
	if (i < 0)
		return i;
	st->st_mode = S_IFREG | 0644;
	st->st_nlink = 1;
	st->st_size = (off_t)files[i].bytes;
	st->st_blksize = 4096;
	st->st_blocks = (blkcnt_t)(files[i].bytes / 512);
	return 0;
}

static int tap_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
		       struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
	(void)path;
	(void)offset;
	(void)info;
	(void)flags;
	for (uint32_t i = 0; i < file_count; i++)
		fill(buffer, files[i].name, NULL, 0, 0);
	return 0;
}

static int tap_open(const char *path, struct fuse_file_info *info)
{
	const int i = find(path);

	if (i < 0)
		return i;
	info->fh = (uint64_t)i;
	/* As issued, whether O_DIRECT or not: the page cache would read ahead and write late. */
	info->direct_io = 1;
	return 0;
}

static int tap_read(const char *path, char *buffer, size_t bytes, off_t offset,
		    struct fuse_file_info *info)
{
	const struct tap_file *file = &files[info->fh];

	(void)path;
	record((uint32_t)info->fh, 0, (uint64_t)offset, bytes);
	if ((size_t)offset >= file->bytes)
		return 0;
	if (bytes > file->bytes - (size_t)offset)
		bytes = file->bytes - (size_t)offset;
	memcpy(buffer, file->data + offset, bytes);
	return (int)bytes;
}

static int tap_write(const char *path, const char *buffer, size_t bytes, off_t offset,
		     struct fuse_file_info *info)
{
	struct tap_file *file = &files[info->fh];

	(void)path;
	record((uint32_t)info->fh, 1, (uint64_t)offset, bytes);
	if ((size_t)offset + bytes > file->bytes)
		return -EFBIG;
	memcpy(file->data + offset, buffer, bytes);
	return (int)bytes;
}

static int tap_fsync(const char *path, int data_only, struct fuse_file_info *info)
{
	(void)path;
	(void)data_only;
	record((uint32_t)info->fh, 2, 0, 0);
	return 0;
}

static const struct fuse_operations operations = {
	.init = tap_init,
	.getattr = tap_getattr,
	.readdir = tap_readdir,
	.open = tap_open,
	.read = tap_read,
	.write = tap_write,
	.fsync = tap_fsync,
};

static int add_file(const char *word)
{
	struct tap_file *file = &files[file_count];
	const char *mark = strchr(word, '=');

	if (!mark || file_count == FILES || mark - word >= (long)sizeof(file->name))
		return -1;
	memcpy(file->name, word, (size_t)(mark - word));
	file->bytes = strtoull(mark + 1, NULL, 10);
	file->data = mmap(NULL, file->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);
	if (file->data == MAP_FAILED)
		return -1;
	/* Zeros would be told of as data that was never written. */
	memset(file->data, 0x5a, file->bytes);
	file_count++;
	return 0;
}

int main(int argc, char **argv)
{
	char foreground[] = "-f", one_thread[] = "-s", option[] = "-o", options[32];
	char *words[] = { argv[0], foreground, one_thread, option, options, NULL, NULL };

	if (argc < 4) {
		fprintf(stderr, "usage: tap_files MOUNT LOG NAME=BYTES...\n");
		return 2;
	}
	log_fd = open(argv[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (log_fd < 0) {
		perror(argv[2]);
		return 2;
	}
	for (int i = 3; i < argc; i++) {
		if (add_file(argv[i]) < 0) {
			fprintf(stderr, "tap_files: %s\n", argv[i]);
			return 2;
		}
	}
	snprintf(options, sizeof(options), "max_read=%u", REQUEST_BYTES);
	words[5] = argv[1];
	return fuse_main(6, words, &operations, NULL);
}
