/* SPDX-License-Identifier: MIT */
/*
 * A record of the kernel's log: the text is the record's first line, cut to what fits, and a
 * device that is not in it is never said to be in trouble.
 */
#include <string.h>

#include "fuzz.h"
#include "trim/probe_klog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct klog_names names = { 0 }, none = { 0 };
	char *record = malloc(size + 1), text[48], again[48];
	enum klog_says says;

	if (!record)
		abort();
	if (size)
		memcpy(record, data, size);
	record[size] = '\0';
	klog_add_name(&names, "sda", 3);
	klog_add_name(&names, "ata1", 4);
	says = klog_judge(record, &names, text, sizeof(text));
	EXPECT(strlen(text) < sizeof(text) && !strchr(text, '\n'));
	EXPECT(says == KLOG_NOTHING || strstr(text, "sda") || strstr(text, "ata1"));
	EXPECT(klog_judge(record, &none, again, sizeof(again)) == KLOG_NOTHING);
	EXPECT(strcmp(text, again) == 0);
	free(record);
	return 0;
}
