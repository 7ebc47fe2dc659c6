/* SPDX-License-Identifier: MIT */

/*
 * open_target - opens a target through the gate and, when told to write and let in, writes
 * noise over its first and last 64 KiB. Exits as tare does: 0, 2, 3 or 8.
 *
 *	open_target [--write] [--erase-data=SERIAL] [--expendable=PATH] [--size=N] [--need=N]
 *		    [--hold] [--devices] [SPEC]
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "target/target.h"

#define NOISE_BYTES 65536

static bool option(const char *argument, const char *name, const char **value)
{
	const size_t length = strlen(name);

	if (strncmp(argument, name, length) != 0 || argument[length] != '=')
		return false;
	*value = argument + length + 1;
	return true;
}

static uint64_t bytes(const char *text)
{
	struct err err = { 0 };
	uint64_t value = 0;

	if (text && units_parse_bytes(text, &value, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	return value;
}

static int exit_code(int r)
{
	return r == -EINVAL ? 2 : r == -ENOSPC ? 8 : 3;
}

static int scribble(const struct target *target)
{
	const uint64_t size = target->info.size_bytes;
	void *noise;

	if (posix_memalign(&noise, 4096, NOISE_BYTES))
		return -ENOMEM;
	memset(noise, 0xa5, NOISE_BYTES);
	if (pwrite(target->fd, noise, NOISE_BYTES, 0) != NOISE_BYTES ||
	    pwrite(target->fd, noise, NOISE_BYTES, (off_t)(size - NOISE_BYTES)) != NOISE_BYTES) {
		perror("writing");
		free(noise);
		return -EIO;
	}
	free(noise);
	return 0;
}

static void show(const struct target_info *info)
{
	printf("kind=%s path=%s device=%s counted=%u:%u size=%llu block=%u/%u align=%u/%u\n",
	       target_kind_name(info->kind), info->path, info->device, info->device_major,
	       info->device_minor, (unsigned long long)info->size_bytes, info->logical_block_bytes,
	       info->physical_block_bytes, info->memory_align_bytes, info->offset_align_bytes);
	printf("model=%s serial=%s firmware=%s transport=%s scheduler=%s cache=%s "
	       "discard=%llu/%llu\n",
	       info->model, info->serial, info->firmware, info->transport, info->scheduler,
	       info->write_cache, (unsigned long long)info->discard_granularity_bytes,
	       (unsigned long long)info->discard_max_bytes);
	printf("fs=%s on=%s from=%s free=%llu direct=%d ours=%d start=%llu consent=%s\n",
	       info->filesystem, info->mount_point, info->mount_source,
	       (unsigned long long)info->free_bytes, info->direct, info->ours,
	       (unsigned long long)info->partition_start_bytes, info->consent);
	for (uint32_t i = 0; i < info->layer_count; i++)
		printf("layer %s %s %s\n", info->layers[i].name, info->layers[i].kind,
		       info->layers[i].detail);
}

static int show_devices(void)
{
	struct target_device *devices;
	struct err err = { 0 };
	size_t count;

	if (target_list_devices(&devices, &count, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 3;
	}
	for (size_t i = 0; i < count; i++) {
		printf("%s [%s]\n", devices[i].by_id, devices[i].use);
		show(&devices[i].info);
	}
	free(devices);
	return 0;
}

static int open_and_use(const struct target_request *request, bool hold)
{
	struct err err = { 0 };
	struct target *target;
	int r = target_open(&target, request, &err);

	if (r < 0) {
		fprintf(stderr, "tare: %s\n", err.text);
		if (err.hint[0])
			fprintf(stderr, "      %s\n", err.hint);
		return exit_code(r);
	}
	show(&target->info);
	if (request->writes && target->fd >= 0)
		r = scribble(target);
	fflush(stdout);
	if (hold)
		pause();
	target_close(target);
	return r < 0 ? 4 : 0;
}

int main(int argc, char **argv)
{
	struct target_request request = { 0 };
	const char *size = NULL, *need = NULL;
	bool hold = false;

	for (int i = 1; i < argc; i++) {
		const char *argument = argv[i];

		if (strcmp(argument, "--write") == 0)
			request.writes = true;
		else if (strcmp(argument, "--hold") == 0)
			hold = true;
		else if (strcmp(argument, "--reap") == 0)
			printf("reaped %d\n", target_reap_leftovers());
		else if (strcmp(argument, "--devices") == 0)
			return show_devices();
		else if (!option(argument, "--erase-data", &request.erase_serial) &&
			 !option(argument, "--expendable", &request.expendable_path) &&
			 !option(argument, "--size", &size) && !option(argument, "--need", &need))
			request.spec = argument;
	}
	request.size_bytes = bytes(size);
	request.need_bytes = bytes(need);
	return request.spec ? open_and_use(&request, hold) : 0;
}
