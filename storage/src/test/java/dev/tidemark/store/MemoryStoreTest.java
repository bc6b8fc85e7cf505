package dev.tidemark.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

class MemoryStoreTest extends ObjectStoreContract {
  @AfterAll
  static void forget() {
    Stores.forgetMemory("MemoryStoreTest");
  }

  @Override
  protected ObjectStore open(String prefix) {
    return Stores.open("memory:MemoryStoreTest/" + prefix, StoreSettings.DEFAULT);
  }

  @Test
  void timesComeFromTheGivenClock() throws Exception {
    Instant then = Instant.parse("2026-01-02T03:04:05Z");
    MemoryStore store = new MemoryStore("x", () -> then);
    store.put("k", Body.of(bytes("v")));
    assertThat(store.list("", "", 1)).containsExactly(new ObjectInfo("k", 1, then));
  }
}
