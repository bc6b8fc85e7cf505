package dev.tidemark;

import static com.tngtech.archunit.lang.conditions.ArchPredicates.are;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.tidemark.store.ObjectStore;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Clock;
import java.time.Instant;
import java.util.Random;

/** The arrows between the rooms of the house, and what the core may not touch. */
@AnalyzeClasses(packages = "dev.tidemark", importOptions = NoTests.class)
class ArchitectureTest {
  private static final String[] CORE = {
    "dev.tidemark.time..", "dev.tidemark.schema..", "dev.tidemark.spine..", "dev.tidemark.shard.."
  };

  @ArchTest
  static final ArchRule arrows_run_one_way =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("state")
          .definedBy(CORE)
          .layer("storage")
          .definedBy(
              "dev.tidemark.store..",
              "dev.tidemark.log..",
              "dev.tidemark.row..",
              "dev.tidemark.part..",
              "dev.tidemark.merge..",
              "dev.tidemark.hold..",
              "dev.tidemark.gc..",
              "dev.tidemark.read..")
          .layer("operators")
          .definedBy("dev.tidemark.flink..")
          .layer("job")
          .definedBy("dev.tidemark.job..", "dev.tidemark.cli..")
          .whereLayer("job")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("operators")
          .mayOnlyBeAccessedByLayers("job")
          .whereLayer("storage")
          .mayOnlyBeAccessedByLayers("operators", "job");

  @ArchTest
  static final ArchRule inside_state_the_arrows_are_shard_to_spine_to_time =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("time")
          .definedBy("dev.tidemark.time..")
          .layer("schema")
          .definedBy("dev.tidemark.schema..")
          .layer("spine")
          .definedBy("dev.tidemark.spine..")
          .layer("shard")
          .definedBy("dev.tidemark.shard..")
          .whereLayer("shard")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("spine")
          .mayOnlyBeAccessedByLayers("shard")
          .whereLayer("schema")
          .mayOnlyBeAccessedByLayers("shard");

  @ArchTest
  static final ArchRule packages_form_no_cycles =
      slices().matching("dev.tidemark.(*)..").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule operators_do_not_import_each_other =
      slices()
          .matching("dev.tidemark.flink.(mint|write|append|spine|install|upsert|decode)..")
          .should()
          .notDependOnEachOther()
          .because("what crosses between operators is a record in dev.tidemark.flink.message");

  @ArchTest
  static final ArchRule the_core_has_no_clock_no_chance_no_thread =
      noClasses()
          .that()
          .resideInAnyPackage(CORE)
          .should()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(System.class, "nanoTime")
          .orShould()
          .callMethod(Instant.class, "now")
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(Clock.class)
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(Random.class)
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(Thread.class)
          .orShould()
          .dependOnClassesThat()
          .resideInAnyPackage("java.nio.file..", "java.util.concurrent..", "org.slf4j..")
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(InputStream.class)
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(OutputStream.class)
          .because("decisions are pure: time and ids are arguments")
          .allowEmptyShould(false);

  @ArchTest
  static final ArchRule only_the_s3_store_sees_the_sdk =
      noClasses()
          .that()
          .resideOutsideOfPackage("dev.tidemark.store.s3..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("software.amazon.awssdk..");

  private static final DescribedPredicate<JavaClass> STORES =
      DescribedPredicate.describe(
          "stores themselves", javaClass -> javaClass.isAssignableTo(ObjectStore.class));

  @ArchTest
  static final ArchRule only_the_commit_loop_and_the_probe_create_conditionally =
      noClasses()
          .that()
          .resideOutsideOfPackage("dev.tidemark.log..")
          .and(are(DescribedPredicate.not(STORES)))
          .and()
          .doNotHaveFullyQualifiedName("dev.tidemark.store.StoreProbe")
          .should()
          .callMethodWhere(
              DescribedPredicate.describe(
                  "putIfAbsent of a store",
                  call ->
                      call.getTarget().getName().equals("putIfAbsent")
                          && call.getTargetOwner().isAssignableTo(ObjectStore.class)));

  @ArchTest
  static final ArchRule nothing_prints_outside_the_command_line =
      noClasses()
          .that()
          .resideOutsideOfPackages("dev.tidemark.cli..", "dev.tidemark.bench..")
          .should()
          .accessField(System.class, "out")
          .orShould()
          .accessField(System.class, "err")
          .orShould()
          .callMethod(Throwable.class, "printStackTrace");

  @ArchTest
  static final ArchRule nothing_is_a_mock =
      noClasses().should().dependOnClassesThat().resideInAPackage("org.mockito..");
}
