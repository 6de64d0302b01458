import { levels, pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import { LogOutput } from './log-output.ts';
import { currentSpan } from '../tracing/tracing.ts';

/** Fields that may hold a key, a token or a password, at any level. */
const redacted = [
  'authorization',
  'key',
  'token',
  'secret',
  'password',
  'headers',
  'connectionString',
];

/**
 * The minimum level that is logged. It can change, and then also applies to existing child loggers.
 */
export class LogLevel {
  current: string;

  constructor(initial: string) {
    this.current = initial;
  }
}

/**
 * The service's logger: one JSON object per line. ERROR means that a person must act. Each request,
 * job and attempt writes one wide line.
 */
export function createLogger(
  level: string | LogLevel,
  destination: DestinationStream | LogOutput = new LogOutput(process.stderr.fd),
  { hasTraces = false } = {},
): Logger {
  const options: LoggerOptions = {
    // Children keep the level they were created with, so a level that may change is checked for
    // each line.
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
          ? 'log lines dropped because the log reader is too slow'
          : 'log output works again; lines may have been dropped',
      );
  }
  return log;
}

/** These fields connect a line to its trace. */
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

/** Causes may form a cycle. */
const maxCauses = 5;
const maxListedErrors = 10;

/** Only the fields of an error that help a person. Libraries attach many others. */
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
    // A failed connection to several addresses has this type, with an empty message.
    ...(error instanceof AggregateError && {
      errors: error.errors.slice(0, maxListedErrors).map((one) => describeError(one, depth + 1)),
    }),
  };
}
