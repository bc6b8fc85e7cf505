package dev.tidemark.sim;

import java.util.HashSet;
import java.util.Set;

/**
 * Which history is played. The seed makes it; the rest leaves things out of it, which is how a
 * failing one is shrunk.
 *
 * @param seed what every choice is drawn from
 * @param steps how often anybody may wait before the history ends
 * @param mutant how the protocol is broken
 * @param actors names of actors that never come
 * @param faults kinds that never happen
 * @param events single faults and turns that don't happen, by their labels
 */
record Script(
    long seed,
    long steps,
    Mutant mutant,
    Set<String> actors,
    Set<Fault> faults,
    Set<String> events) {
  /** Copies the sets. */
  Script {
    actors = Set.copyOf(actors);
    faults = Set.copyOf(faults);
    events = Set.copyOf(events);
  }

  /** The whole history of a seed. */
  static Script of(long seed, long steps, Mutant mutant) {
    return new Script(seed, steps, mutant, Set.of(), Set.of(), Set.of());
  }

  Script withSteps(long fewer) {
    return new Script(seed, fewer, mutant, actors, faults, events);
  }

  Script withoutActor(String actor) {
    Set<String> more = new HashSet<>(actors);
    more.add(actor);
    return new Script(seed, steps, mutant, more, faults, events);
  }

  Script withoutFault(Fault fault) {
    Set<Fault> more = new HashSet<>(faults);
    more.add(fault);
    return new Script(seed, steps, mutant, actors, more, events);
  }

  Script withoutEvents(Iterable<String> labels) {
    Set<String> more = new HashSet<>(events);
    labels.forEach(more::add);
    return new Script(seed, steps, mutant, actors, faults, more);
  }
}
