package dev.tidemark.store;

import static dev.tidemark.store.ObjectStoreContract.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.store.UnreliableStore.Rates;
import java.util.EnumSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UnreliableStoreTest {
  @Test
  void losesRequestsAndAnswersAndRefuses() throws Exception {
    MemoryStore truth = new MemoryStore("truth");
    UnreliableStore store = new UnreliableStore(truth, new Random(1), Rates.BAD);
    Set<StoreException.Reason> reasons = EnumSet.noneOf(StoreException.Reason.class);
    int lost = 0;
    int effects = 0;
    for (int n = 0; n < 1_000; n++) {
      String key = "k" + n;
      try {
        store.putIfAbsent(key, bytes("v"));
        assertThat(truth.get(key)).as(key).isPresent();
      } catch (StoreException e) {
        reasons.add(e.reason());
        assertThat(e.retryable()).isTrue();
        if (e.indeterminate()) {
          lost++;
          effects += truth.get(key).isPresent() ? 1 : 0;
        } else {
          assertThat(truth.get(key)).as(key).isEmpty();
        }
      }
    }
    assertThat(lost).isBetween(150, 250);
    assertThat(effects).isBetween(70, 130);
    assertThat(reasons)
        .containsExactlyInAnyOrder(
            StoreException.Reason.CONFLICT,
            StoreException.Reason.THROTTLED,
            StoreException.Reason.UNAVAILABLE);
    store.heal();
    for (int n = 0; n < 100; n++) {
      store.under("x/").putIfAbsent("h" + n, bytes("v"));
    }
  }

  @Test
  void viewsAreUnreliableToo() {
    ObjectStore view =
        new UnreliableStore(new MemoryStore("truth"), new Random(1), new Rates(0, 1, 0))
            .under("orders/");
    assertThat(org.assertj.core.api.Assertions.catchThrowable(() -> view.get("k")))
        .isInstanceOf(StoreException.class);
  }
}
