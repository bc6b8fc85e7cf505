package dev.tidemark.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command line's main class. */
@Command(
    name = "tidemark",
    description = "Makes a changelog durable as shards in object storage, and reads them back.",
    synopsisSubcommandLabel = "COMMAND",
    mixinStandardHelpOptions = true,
    version = "tidemark 0.1.0 (shard format 1.0)",
    footer = {
      "",
      "SHARD and WAREHOUSE are URLs or paths: s3://bucket/warehouse/name, file:///path/name, path/name.",
      "Store settings: --s3.KEY VALUE, else those of --conf FILE, else of the file named by TIDEMARK_CONF.",
      "Exit codes: 0 done, 1 the answer is no, 2 usage or input, 3 store, 4 the job failed, 130 Ctrl-C."
    })
public final class Tidemark {
  private Tidemark() {}

  /** Runs a command and exits with its code. */
  public static void main(String[] args) {
    PrintStream err =
        new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
    int code =
        run(Arrays.asList(args), new FileOutputStream(FileDescriptor.out), err, System.getenv());
    err.flush();
    System.exit(code);
  }

  /** Runs a command: all of the command line but the process. */
  static int run(
      List<String> args, OutputStream stdout, PrintStream err, Map<String, String> environment) {
    Output out = new Output(stdout);
    boolean debug = args.contains("--debug");
    try {
      Arguments arguments = Arguments.of(args);
      Context context = new Context(out, err, arguments.options(), environment, Clock.systemUTC());
      CommandLine line = commandLine(context);
      line.setOut(new PrintWriter(new OutputWriter(out)));
      line.setErr(new PrintWriter(err, true, StandardCharsets.UTF_8));
      line.setParameterExceptionHandler((e, words) -> fail(usage(e), e, err, debug));
      line.setExecutionExceptionHandler(
          (e, command, result) -> fail(Failures.of(e), e, err, debug));
      if (arguments.words().isEmpty()) {
        line.usage(line.getErr());
        return Exit.USAGE;
      }
      int code = line.execute(arguments.words().toArray(String[]::new));
      out.flush();
      return code;
    } catch (RuntimeException e) {
      return fail(Failures.of(e), e, err, debug);
    }
  }

  private static CommandLine commandLine(Context context) {
    CommandLine line = new CommandLine(new Tidemark());
    line.addSubcommand(new RunCommand(context));
    line.addSubcommand(new DemoCommand(context));
    line.addSubcommand(new LsCommand(context));
    line.addSubcommand(new InspectCommand(context));
    line.addSubcommand(new SnapshotCommand(context));
    line.addSubcommand(new LogCommand(context));
    line.addSubcommand(new VerifyCommand(context));
    line.addSubcommand(new ErrorsCommand(context));
    line.addSubcommand(new UsageCommand(context));
    line.addSubcommand(new CompactCommand(context));
    line.addSubcommand(new GcCommand(context));
    line.addSubcommand(new HoldsCommand(context));
    line.addSubcommand(new AlterCommand(context));
    line.addSubcommand(new SpecCommand(context));
    line.addSubcommand(new ReportCommand(context));
    line.addSubcommand(new HandOverCommand(context));
    line.addSubcommand(new SealCommand(context));
    line.addSubcommand(new RetireCommand(context));
    line.addSubcommand(new ReferenceCommand(context));
    line.setUsageHelpWidth(110);
    line.getSubcommands().values().forEach(command -> command.setUsageHelpWidth(110));
    return line;
  }

  private static Failures.Verdict usage(ParameterException e) {
    String message = Failures.oneLine(String.valueOf(e.getMessage()));
    String command = e.getCommandLine().getCommandSpec().qualifiedName();
    if (e instanceof UnmatchedArgumentException unmatched
        && !unmatched.getSuggestions().isEmpty()) {
      message += "; did you mean " + unmatched.getSuggestions().get(0) + "?";
    }
    return new Failures.Verdict(Exit.USAGE, message + " (" + command + " --help)");
  }

  private static int fail(Failures.Verdict verdict, Exception e, PrintStream err, boolean debug) {
    if (!verdict.line().isEmpty()) {
      err.println("tidemark: " + verdict.line());
    }
    if (debug) {
      e.printStackTrace(err);
    }
    return verdict.code();
  }
}
