package dev.tidemark.job;

final class Probe {}
