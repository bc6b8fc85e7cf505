package dev.tidemark;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
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

@AnalyzeClasses(packages = "dev.tidemark", importOptions = NoTests.class)
class ArchitectureTest {
  @ArchTest
  static final ArchRule onlyS3SeesTheSdk =
      noClasses()
          .that()
          .resideOutsideOfPackage("dev.tidemark.store.s3..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("software.amazon.awssdk..");

  @ArchTest
  static final ArchRule nobodyPrints =
      noClasses()
          .should()
          .accessField(System.class, "out")
          .orShould()
          .accessField(System.class, "err")
          .orShould()
          .callMethod(Throwable.class, "printStackTrace");

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

  @ArchTest
  static final ArchRule noCycles =
      slices().matching("dev.tidemark.(*)..").should().beFreeOfCycles();

  private static final DescribedPredicate<JavaClass> STORES =
      DescribedPredicate.describe(
          "stores themselves", javaClass -> javaClass.isAssignableTo(ObjectStore.class));

  @ArchTest
  static final ArchRule onlyTheLogAndTheProbeCompareAndSet =
      noClasses()
          .that(are(DescribedPredicate.not(resideInAPackage("dev.tidemark.log.."))))
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
  static final ArchRule noMocks =
      noClasses().should().dependOnClassesThat().resideInAPackage("org.mockito..");
}
