/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the tool and its launcher: the tool's name and its options.
 */
#ifndef VALGRIND_LAUNCHER_H
#define VALGRIND_LAUNCHER_H

#define TOOL_NAME "perfexmodel-amd64-linux"
/* The same, built for processors with AVX2, BMI2 and the rest of x86-64-v3. */
#define TOOL_NAME_V3 "perfexmodel-v3-amd64-linux"

/* What to model: a file that holds a struct model_config. */
#define OPTION_CONFIG "--model-config="
/* The directory where the counts go. */
#define OPTION_COUNTS "--model-counts="
/* For a program executed by another: its path, if it differs from the one on the command line; its
 * argv[0], if it differs from its path; how many images the process had before. Empty otherwise,
 * but always present. */
#define OPTION_PATH       "--model-path="
#define OPTION_ARGV0      "--model-argv0="
#define OPTION_GENERATION "--model-generation="

#endif
