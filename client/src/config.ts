import { isRecord, ReelfeedError } from './errors.ts';
import { signatureOf, type Viewer } from './feed.ts';
import { getJson, type RetryingTransport } from './request.ts';
import { type ExperimentAssignment } from './types.ts';

/** The viewer's configuration: base values, overridden by the viewer's variants. */
export type ClientConfig = {
  /** Scalars by dotted key. */
  readonly settings: Readonly<Record<string, string | number | boolean>>;
  /** Arbitrary JSON by key. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly experiments: readonly ExperimentAssignment[];
};

export type ConfigQuery = {
  /** ISO 3166-1 alpha-2, such as `DE`. */
  readonly country?: string | undefined;
  /** Segments that the viewer belongs to. */
  readonly segments?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** Reads the configuration. Throws `ReelfeedError`, or the signal's reason once it is aborted. */
export async function readConfig(
  transport: RetryingTransport,
  viewer: Viewer,
  query: ConfigQuery,
): Promise<ClientConfig> {
  const parameters = new URLSearchParams();
  const values = {
    userId: viewer.userId,
    deviceId: viewer.deviceId,
    device: viewer.device,
    country: query.country,
    segments: query.segments?.join(','),
  };
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== '') parameters.set(name, value);
  }
  const signature = signatureOf(viewer);
  const body = await getJson(transport, 'v1/config', parameters, query.signal, signature);
  const data = isRecord(body) ? body['data'] : undefined;
  if (!isConfig(data)) {
    throw new ReelfeedError({
      code: 'INVALID_RESPONSE',
      message: 'The response is not a configuration.',
      status: 200,
      requestId: null,
      retryAfterMs: null,
      details: [],
    });
  }
  return data;
}

function isConfig(data: unknown): data is ClientConfig {
  return (
    isRecord(data) &&
    isRecord(data['settings']) &&
    isRecord(data['flags']) &&
    Array.isArray(data['experiments'])
  );
}
