package dev.tidemark;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import java.util.regex.Pattern;

/** Leaves out the tests of all modules, whether they come as folders or as jars. */
public final class NoTests implements ImportOption {
  private static final Pattern TESTS = Pattern.compile(".*(/test-classes/|-tests\\.jar).*");

  @Override
  public boolean includes(Location location) {
    return !location.matches(TESTS);
  }
}
