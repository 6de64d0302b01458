/** The settings of tracing. They use OpenTelemetry's names where these exist. */
import { choice, httpUrl, optional, text, type Parser } from '../settings/config-values.ts';
import { setting, type SettingValues } from '../settings/settings.ts';

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type SamplerName = (typeof samplers)[number];

export const tracingSettings = {
  tracesUrl: setting({
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    parse: optional(httpUrl()),
    fallback: '',
    about:
      'OTLP/HTTP endpoint for traces in JSON, such as http://localhost:4318; `/v1/traces` is appended. Empty: no traces.',
  }),
  tracesHeaders: setting({
    env: 'OTEL_EXPORTER_OTLP_HEADERS',
    parse: optional(headerList()),
    fallback: '',
    about: 'Headers for the trace endpoint: name=value, separated by commas.',
    secret: true,
  }),
  tracesService: setting({
    env: 'OTEL_SERVICE_NAME',
    parse: text(),
    fallback: 'reelfeed',
    about: 'Name of this service in traces.',
  }),
  tracesSampler: setting({
    env: 'OTEL_TRACES_SAMPLER',
    parse: choice(samplers),
    fallback: 'parentbased_always_on',
    about: `Sampler of traces: ${samplers.join(', ')}.`,
  }),
  tracesSamplerArg: setting({
    env: 'OTEL_TRACES_SAMPLER_ARG',
    parse: share(),
    fallback: '1',
    about: 'Share of traces that the samplers with traceidratio keep, from 0 to 1.',
  }),
  tracesOfCallers: setting({
    env: 'REELFEED_TRACES_OF_CALLERS',
    parse: choice(['on', 'off'] as const),
    fallback: 'off',
    about:
      'Whether requests continue the trace in their `traceparent` header. Only for services whose callers are all trusted.',
  }),
};

export type TracingSettings = SettingValues<typeof tracingSettings>;

function share(): Parser<number> {
  return (raw) => {
    const value = /^\d*\.?\d+$/.test(raw.trim()) ? Number(raw) : Number.NaN;
    return value >= 0 && value <= 1 ? { value } : { problem: 'a number from 0 to 1' };
  };
}

function headerList(): Parser<Readonly<Record<string, string>>> {
  return (raw) => {
    const headers: Record<string, string> = {};
    for (const part of raw.split(',')) {
      const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(.*?)\s*$/.exec(part) ?? [];
      if (name === undefined || value === undefined) {
        return { problem: 'name=value pairs, separated by commas' };
      }
      try {
        headers[name] = decodeURIComponent(value);
      } catch {
        return { problem: 'values that are percent-encoded' };
      }
    }
    return { value: headers };
  };
}
