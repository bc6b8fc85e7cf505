package dev.tidemark.bench;

final class Probe {}
