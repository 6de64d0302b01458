/**
 * OpenTelemetry spans, sent in batches over OTLP/HTTP. Problems at the receiver never affect traced
 * code: at most `maxQueued` spans wait, the rest are dropped, and the log has one line for the
 * beginning of a problem and one for its end.
 */
import { ROOT_CONTEXT, SpanKind as ApiKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Context, Span as ApiSpan, Tracer } from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { sleep } from '../async/lifecycle.ts';
import type { Span, SpanAttributes, SpanKind, Tracing } from './tracing.ts';
import type { SamplerName, TracingSettings } from './tracing-settings.ts';

type OtlpOptions = TracingSettings & {
  readonly tracesUrl: string;
  readonly version: string;
  readonly log: Logger;
};

const maxQueued = 2_048;
const maxBatch = 512;
const sendEveryMs = 1_000;
const sendTimeoutMs = 5_000;
/** How long a shutdown waits for queued spans. */
const drainMs = 5_000;

const kinds: Record<SpanKind, ApiKind> = {
  server: ApiKind.SERVER,
  consumer: ApiKind.CONSUMER,
  client: ApiKind.CLIENT,
  internal: ApiKind.INTERNAL,
};

export class OtlpTracing implements Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;

  constructor(options: OtlpOptions) {
    const { tracesUrl, tracesHeaders, tracesService, version, log } = options;
    const exporter = new OTLPTraceExporter({
      url: `${tracesUrl}/v1/traces`,
      headers: { ...tracesHeaders },
      timeoutMillis: sendTimeoutMs,
    });
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({
        'service.name': tracesService,
        'service.version': version,
        'process.pid': process.pid,
      }),
      sampler: samplerOf(options.tracesSampler, options.tracesSamplerArg),
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: watched(exporter, log),
          maxQueueSize: maxQueued,
          maxExportBatchSize: maxBatch,
          scheduledDelayMillis: sendEveryMs,
          exportTimeoutMillis: sendTimeoutMs,
        }),
      ],
    });
    this.#tracer = this.#provider.getTracer('reelfeed', version);
  }

  start(
    name: string,
    {
      kind,
      parent,
      attributes,
    }: { kind: SpanKind; parent: string | null; attributes: SpanAttributes },
  ): Span {
    const context = parent === null ? ROOT_CONTEXT : contextOf(parent);
    return this.#wrap(this.#tracer.startSpan(name, { kind: kinds[kind], attributes }, context));
  }

  #wrap(span: ApiSpan): Span {
    const { traceId, spanId, traceFlags } = span.spanContext();
    return {
      traceId,
      spanId,
      traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
      set: (attributes) => void span.setAttributes(attributes),
      fail: (message) => void span.setStatus({ code: SpanStatusCode.ERROR, message }),
      child: (name, attributes) =>
        this.#wrap(this.#tracer.startSpan(name, { attributes }, trace.setSpan(ROOT_CONTEXT, span))),
      end: () => span.end(),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const drained = new AbortController();
    const draining = this.#provider
      .shutdown()
      .catch(() => undefined)
      .finally(() => drained.abort());
    await Promise.race([draining, sleep(drainMs, drained.signal)]);
  }
}

/** An invalid `traceparent` begins a new trace. */
function contextOf(traceparent: string): Context {
  const [, traceId, spanId, flags] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags, 16) & 1;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function samplerOf(name: SamplerName, ratio: number): Sampler {
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}

/** Logs when batches begin to be lost, and when that ends. */
function watched(exporter: SpanExporter, log: Logger): SpanExporter {
  let isInTrouble = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== ExportResultCode.SUCCESS;
        if (hasFailed && !isInTrouble) {
          log.warn({ err: result.error }, 'cannot export traces; dropping them');
        }
        if (!hasFailed && isInTrouble) log.warn('exporting traces again');
        isInTrouble = hasFailed;
        done(result);
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
