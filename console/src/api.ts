/** Requests of the console to the API. The session cookie signs them; the header proves their origin. */

export type Meta = { requestId: string; total?: number; nextCursor?: string | null };
export type Page<Item> = { data: Item[]; meta: Meta };

/** A failure that the API has explained, or a connection that did not work. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const header = { 'X-Reelfeed-Console': '1' };

/** Sends one request. Paths are relative to the service, such as `v1/content`. */
export async function request<Answer>(
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const answer = await fetch(`../${path}`, {
    method,
    credentials: 'same-origin',
    headers: body === undefined ? header : { ...header, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new ApiFailure(0, 'OFFLINE', 'The service cannot be reached. Is it running?');
  });
  const parsed = (await answer.json().catch(() => null)) as
    | (Answer & { error?: { code: string; message: string } })
    | null;
  if (answer.ok && parsed !== null) return parsed;
  const { code = 'UNKNOWN', message = `The service answered ${answer.status}.` } =
    parsed?.error ?? {};
  throw new ApiFailure(answer.status, code, message);
}

export const get = <Answer>(path: string) => request<Answer>('GET', path);

/** Builds `path?…` from the values that are set. */
export function withQuery(path: string, values: Record<string, string | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value) query.set(name, value);
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** Sends a file to an upload URL and reports the progress, from 0 to 1. */
export function sendFile(
  url: string,
  file: File,
  onProgress: (share: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const upload = new XMLHttpRequest();
    upload.upload.addEventListener('progress', ({ loaded, total }) => onProgress(loaded / total));
    upload.addEventListener('load', () => {
      if (upload.status < 300) resolve();
      else reject(new ApiFailure(upload.status, 'UPLOAD_FAILED', messageOf(upload.responseText)));
    });
    upload.addEventListener('error', () =>
      reject(new ApiFailure(0, 'OFFLINE', 'The connection broke. Drop the file again.')),
    );
    upload.open('PUT', url);
    upload.send(file);
  });
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message;
  } catch {
    return 'The upload was refused.';
  }
}
