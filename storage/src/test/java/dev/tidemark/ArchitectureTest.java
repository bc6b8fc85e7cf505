package dev.tidemark;

import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The arrows between the packages of storage. What holds everywhere, job tries for all modules. */
@AnalyzeClasses(packages = "dev.tidemark", importOptions = NoTests.class)
class ArchitectureTest {
  @ArchTest
  static final ArchRule layers =
      layeredArchitecture()
          .consideringOnlyDependenciesInAnyPackage("dev.tidemark..")
          .optionalLayer("state")
          .definedBy(
              "dev.tidemark.time..",
              "dev.tidemark.spine..",
              "dev.tidemark.shard..",
              "dev.tidemark.schema..")
          .optionalLayer("store")
          .definedBy("dev.tidemark.store..")
          .optionalLayer("row")
          .definedBy("dev.tidemark.row..")
          .optionalLayer("part")
          .definedBy("dev.tidemark.part..")
          .optionalLayer("log")
          .definedBy("dev.tidemark.log..")
          .optionalLayer("hold")
          .definedBy("dev.tidemark.hold..")
          .optionalLayer("read")
          .definedBy("dev.tidemark.read..")
          .optionalLayer("work")
          .definedBy("dev.tidemark.merge..", "dev.tidemark.gc..")
          .whereLayer("work")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("read")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("hold")
          .mayOnlyBeAccessedByLayers("read", "work")
          .whereLayer("log")
          .mayOnlyBeAccessedByLayers("hold", "read", "work")
          .whereLayer("part")
          .mayOnlyBeAccessedByLayers("read", "work")
          .whereLayer("row")
          .mayOnlyBeAccessedByLayers("part", "read", "work")
          .whereLayer("store")
          .mayOnlyBeAccessedByLayers("part", "log", "hold", "read", "work");
}
