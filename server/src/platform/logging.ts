import { levels, pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import { LogOutput } from './log-output.ts';
import { currentSpan } from './tracing/tracing.ts';

/** Fields that may hold a key, a token or a password, wherever a caller puts them. */
const redacted = [
  'authorization',
  'key',
  'token',
  'secret',
  'password',
  'headers',
  'connectionString',
];

/** The minimum level that is logged, which may change: it holds for child loggers that exist, too. */
export class LogLevel {
  current: string;

  constructor(initial: string) {
    this.current = initial;
  }
}

/**
 * The service's logger: one JSON object a line. ERROR means that a person must act.
 * Request, job and attempt write one wide line each.
 */
export function createLogger(
  level: string | LogLevel,
  destination: DestinationStream | LogOutput = new LogOutput(process.stderr.fd),
  { hasTraces = false } = {},
): Logger {
  const options: LoggerOptions = {
    // Children keep the level that they were made with, so a level that may change is asked each time.
    ...(typeof level === 'string' ? { level } : { level: 'debug', hooks: onlyFrom(level) }),
    base: null,
    ...(hasTraces && { mixin: namesOfSpan }),
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    serializers: { err: (error: unknown) => describeError(error) },
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: redacted.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
  };
  const log = pino(options, destination);
  if (destination instanceof LogOutput) {
    destination.onWritable = ({ lines, code }) =>
      log.warn(
        { lines, ...(code !== null && { code }) },
        code === null
          ? 'log lines were dropped because the reader of the log is too slow'
          : 'the log can be written again; lines were dropped if it took long',
      );
  }
  return log;
}

/** With these, a line leads to its trace. */
function namesOfSpan(): object {
  const span = currentSpan();
  return span === null ? {} : { trace_id: span.traceId, span_id: span.spanId };
}

function onlyFrom(minimum: LogLevel): NonNullable<LoggerOptions['hooks']> {
  return {
    logMethod(args, method, level) {
      if (level >= (levels.values[minimum.current] ?? Infinity)) method.apply(this, args);
    },
  };
}

/** Causes may name each other in a circle. */
const maxCauses = 5;
const maxListedErrors = 10;

/** Only the fields of an error that help a person; libraries attach many others. */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error;
  if (depth > maxCauses) return { type: error.name, message: error.message };
  const { name, message, stack, cause } = error;
  const code = (error as NodeJS.ErrnoException).code;
  return {
    type: name,
    message,
    stack,
    ...(code !== undefined && { code }),
    ...(cause !== undefined && { cause: describeError(cause, depth + 1) }),
    // A connection that was tried on several addresses fails so, with an empty message.
    ...(error instanceof AggregateError && {
      errors: error.errors.slice(0, maxListedErrors).map((one) => describeError(one, depth + 1)),
    }),
  };
}
