package dev.tidemark.sim;

/**
 * A row that comes or goes.
 *
 * @param row the row, which is its own key
 * @param time when
 * @param diff how often it comes, negative when it goes
 */
record Update(String row, long time, long diff) {}
