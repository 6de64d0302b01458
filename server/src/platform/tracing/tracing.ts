/**
 * Traces of what the service does: requests, jobs, media tasks and webhook attempts, for a receiver of
 * OpenTelemetry. They are off unless a setting names one. Nothing of OpenTelemetry is loaded while they
 * are off: `otlp-tracing.ts`, the only module that imports it, is imported when they are on.
 *
 * A trace goes on in another process through the row of a job or of a delivery, as a `traceparent` of W3C
 * Trace Context. What runs within a span finds it by `currentSpan`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from 'pino';
import type { TracingSettings } from './tracing-settings.ts';

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** Who waits for what: a request that came, work from a queue, a request of ours, a step of any. */
export type SpanKind = 'server' | 'consumer' | 'client' | 'internal';

export type Span = {
  readonly traceId: string;
  readonly spanId: string;
  /** Names this span as the parent of another one, as in the header of W3C Trace Context. */
  readonly traceparent: string;
  set(attributes: SpanAttributes): void;
  /** Marks it as failed. The reason must hold no secret. */
  fail(reason: string): void;
  /** Starts a step of this span. */
  child(name: string, attributes: SpanAttributes): Span;
  /** Call it once. */
  end(): void;
};

export type Tracing = AsyncDisposable & {
  /** Starts a span of the trace that `parent` names; of a new trace where it names none. */
  start(
    name: string,
    options: { kind: SpanKind; parent: string | null; attributes: SpanAttributes },
  ): Span;
};

const current = new AsyncLocalStorage<Span>();

/** The span that the present code runs for, or null. */
export function currentSpan(): Span | null {
  return current.getStore() ?? null;
}

/** Runs `work` for a span; without one, as it is. */
export function withinSpan<T>(span: Span | null, work: () => T): T {
  return span === null ? work() : current.run(span, work);
}

/** Runs a step of the current span, if there is one, which fails if the step rejects. */
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

/** @returns null while traces are off */
export async function openTracing(
  settings: TracingSettings,
  about: { version: string; log: Logger },
): Promise<Tracing | null> {
  const { tracesUrl } = settings;
  if (tracesUrl === null) return null;
  const { OtlpTracing } = await import('./otlp-tracing.ts');
  return new OtlpTracing({ ...settings, tracesUrl, ...about });
}
