bin.perfex := main.c
PROGRAMS += perfex
