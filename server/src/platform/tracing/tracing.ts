/**
 * Traces of requests, jobs, media tasks and webhook attempts, for an OpenTelemetry receiver.
 * Tracing is off unless a setting names a receiver. While it is off, no part of OpenTelemetry is
 * loaded: only `otlp-tracing.ts` imports it, and that file is imported on demand.
 *
 * A trace continues in another process through the row of a job or a delivery, which holds a W3C
 * Trace Context `traceparent`. Code inside a span finds it with `currentSpan`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from 'pino';
import type { TracingSettings } from './tracing-settings.ts';

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** An incoming request, work from a queue, an outgoing request, or a step of any of these. */
export type SpanKind = 'server' | 'consumer' | 'client' | 'internal';

export type Span = {
  readonly traceId: string;
  readonly spanId: string;
  /**
   * Names this span as the parent of another one, in the format of the W3C Trace Context header.
   */
  readonly traceparent: string;
  set(attributes: SpanAttributes): void;
  /** Marks it as failed. The reason must not contain a secret. */
  fail(reason: string): void;
  child(name: string, attributes: SpanAttributes): Span;
  /** Must be called only once. */
  end(): void;
};

export type Tracing = AsyncDisposable & {
  /** Starts a span in the trace of `parent`, or in a new trace if it names none. */
  start(
    name: string,
    options: { kind: SpanKind; parent: string | null; attributes: SpanAttributes },
  ): Span;
};

const current = new AsyncLocalStorage<Span>();

/** The span of the current code, or null. */
export function currentSpan(): Span | null {
  return current.getStore() ?? null;
}

/** Runs `work` within a span, or unchanged if there is none. */
export function withinSpan<T>(span: Span | null, work: () => T): T {
  return span === null ? work() : current.run(span, work);
}

/** Runs a step of the current span, if there is one. The step's span fails if the step rejects. */
export async function step<T>(
  name: string,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> {
  const span = currentSpan()?.child(name, attributes) ?? null;
  if (span === null) return work();
  try {
    return await withinSpan(span, work);
  } catch (error) {
    span.fail((error as Error).name);
    throw error;
  } finally {
    span.end();
  }
}

/** @returns null if tracing is off */
export async function openTracing(
  settings: TracingSettings,
  about: { version: string; log: Logger },
): Promise<Tracing | null> {
  const { tracesUrl } = settings;
  if (tracesUrl === null) return null;
  const { OtlpTracing } = await import('./otlp-tracing.ts');
  return new OtlpTracing({ ...settings, tracesUrl, ...about });
}
