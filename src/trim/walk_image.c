/* SPDX-License-Identifier: MIT */

/*
 * walk_image - a file that is a virtual machine's disk: what its QEMU does with the guest's
 * discards. Its command line tells, which everybody may read; the default is to ignore them.
 */

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/defer.h"
#include "trim/walk_parts.h"

#define COMMAND_BYTES 65536

/* The words of a process's command line, each with its NUL; 0 when there are none. */
static size_t read_command(const char *root, const char *process, char *words)
{
	char path[PATH_MAX];
	size_t size = 0;
	ssize_t got;

	snprintf(path, sizeof(path), "%s/proc/%.32s/cmdline", root, process);
	DEFER(defer_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	while (size < COMMAND_BYTES - 1 &&
	       (got = read(fd, words + size, COMMAND_BYTES - 1 - size)) > 0)
		size += (size_t)got;
	words[size] = '\0';
	return size;
}

static bool is_qemu(const char *program)
{
	const char *name = strrchr(program, '/');

	name = name ? name + 1 : program;
	return strncmp(name, "qemu-", 5) == 0 || strcmp(name, "kvm") == 0;
}

/* The path as a whole: no longer name begins or ends with it. */
static bool word_names(const char *word, const char *path)
{
	const size_t length = strlen(path);

	for (const char *p = strstr(word, path); p; p = strstr(p + 1, path)) {
		const bool begins = p == word || strchr("=\":", p[-1]);

		if (begins && (p[length] == '\0' || strchr(",\"", p[length])))
			return true;
	}
	return false;
}

static bool word_unmaps(const char *word)
{
	static const char *const ways[] = { "discard=unmap", "discard=on", "\"discard\":\"unmap\"",
					    "\"discard\": \"unmap\"" };

	for (size_t i = 0; i < ARRAY_COUNT(ways); i++)
		if (strstr(word, ways[i]))
			return true;
	return false;
}

/* The word of the command line that opens the file; NULL. */
static const char *opening_word(const char *words, size_t size, const char *path)
{
	for (const char *word = words; word < words + size; word += strlen(word) + 1)
		if (word_names(word, path))
			return word;
	return NULL;
}

static uint32_t add_layer(struct walk *walk, const char *process, bool unmaps)
{
	char name[64];
	struct trim_layer *layer;
	uint32_t index;

	snprintf(name, sizeof(name), "qemu_%.32s", process);
	index = walk_add(walk, TRIM_TOP, name, "image");
	if (index == TRIM_TOP)
		return TRIM_TOP;
	layer = &walk->report->layers[index];
	layer->capable = TRIM_YES;
	if (unmaps)
		return index;
	walk_stop(layer, "IMAGE_IGNORE",
		  "the virtual machine of process %.32s has this image open without discard=unmap, "
		  "so that what its guest discards ends there", process);
	walk_remedy(layer, "# discard=unmap on the -drive or -blockdev of this image (libvirt: <driver "
			   "discard='unmap'/>; Proxmox: a thin store and the box Discard), then stop "
			   "and start the machine");
	return index;
}

uint32_t walk_image(struct walk *walk, const char *path)
{
	DEFER(defer_free) char *words = malloc(COMMAND_BYTES);
	char directory[PATH_MAX];
	const struct dirent *entry;

	snprintf(directory, sizeof(directory), "%s/proc", walk->root);
	DEFER(defer_closedir) DIR *dir = opendir(directory);
	while (words && dir && (entry = readdir(dir))) {
		const char *word;
		size_t size;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		size = read_command(walk->root, entry->d_name, words);
		if (size == 0 || !is_qemu(words))
			continue;
		word = opening_word(words, size, path);
		if (word)
			return add_layer(walk, entry->d_name, word_unmaps(word));
	}
	return TRIM_TOP;
}
