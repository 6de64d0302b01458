import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { problemOfJson } from '../../platform/http/json-shape.ts';
import { refuseBadText } from '../../platform/http/text-rules.ts';
import { validationError } from '../../platform/http/validation-error.ts';
import type { Problem } from '../../platform/http/validation.ts';
import { untilAborted } from '../../platform/until-aborted.ts';
import type { ReceivedFile } from '../../platform/storage/receive.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { NewContentMetadata, type Metadata } from '../content/content.ts';
import { watchArrival } from './arrival.ts';
import {
  receiveBytes,
  receiveMedia,
  type ReceivedMedia,
  type UploadLimits,
} from './receive-media.ts';

/** Limits for all form fields except the file. */
const formLimits = {
  fields: 50,
  fieldSize: 64 * 1024,
  fieldNameSize: 100,
  files: 1,
  parts: 51,
  headerPairs: 50,
};

export type ReceivedForm = { metadata: Metadata; media: ReceivedMedia };

/**
 * Reads one `multipart/form-data` request: metadata fields and one `file` part, in any order.
 * Removes what was received if it fails.
 * @throws {ApiError} if a field is invalid, the file is missing, or its content is not media
 */
export async function receiveForm(
  request: FastifyRequest,
  storage: Storage,
  limits: UploadLimits,
): Promise<ReceivedForm> {
  return readForm(
    request,
    limits,
    (source, signal) => receiveMedia(storage, source, limits, null, signal),
    (fields, media) => ({ metadata: toMetadata(request, fields), media }),
  );
}

export type SmallForm = { fields: ReadonlyMap<string, string>; file: ReceivedFile };

/**
 * Reads a form with text fields and one `file` part that is not a video, such as an image.
 * @throws {ApiError} as `receiveForm`, and the errors of `checkHead` for the first bytes
 */
export async function receiveSmallForm(
  request: FastifyRequest,
  storage: Storage,
  limits: UploadLimits & { checkHead: (head: Buffer) => void },
): Promise<SmallForm> {
  if (!request.isMultipart()) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', {
      message: 'Send multipart/form-data with a part named file.',
    });
  }
  return readForm(
    request,
    limits,
    async (source, signal) => ({
      file: await receiveBytes(storage, source, limits, limits.checkHead, signal),
    }),
    (given, { file }) => {
      const fields = [...given].map(([name, values]) => {
        if (values.length > 1) throw fieldError(name, 'is given more than once');
        return [name, values[0] ?? ''] as const;
      });
      refuseBadText(JSON.stringify(fields), Object.fromEntries(fields));
      return { fields: new Map(fields), file };
    },
  );
}

type HoldsFile = { file: AsyncDisposable };

/** Reads the parts of a form; `receive` consumes its file and `finish` validates the result. */
async function readForm<Received extends HoldsFile, Result>(
  request: FastifyRequest,
  limits: UploadLimits,
  receive: (source: Readable, signal: AbortSignal) => Promise<Received>,
  finish: (fields: ReadonlyMap<string, string[]>, received: Received) => Result,
): Promise<Result> {
  using arrival = watchArrival(request.raw, limits.arrival);
  const fields = new Map<string, string[]>();
  let received: Received | null = null;
  try {
    const parts = request.parts({ limits: { ...formLimits, fileSize: Number.MAX_SAFE_INTEGER } });
    // The form parser has no timeout and would wait for the next part forever.
    for await (const part of untilAborted(parts, arrival.signal)) {
      if (part.type === 'field') {
        if (part.valueTruncated) throw fieldError(part.fieldname, 'is too long');
        fields.set(part.fieldname, [...(fields.get(part.fieldname) ?? []), textOf(part)]);
      } else if (part.fieldname === 'file' && received === null) {
        received = await receive(part.file, arrival.signal);
      } else {
        throw fieldError(part.fieldname, 'is not a known file part: send one part named file');
      }
    }
    if (received === null) throw fieldError('file', 'is required');
    return finish(fields, received);
  } catch (error) {
    await received?.file[Symbol.asyncDispose]();
    throw isFormError(error) ? new ApiError('INVALID_REQUEST', formMessage(error)) : error;
  }
}

/** Whether the error is in the form's syntax, as opposed to a disconnected client. */
function isFormError(error: unknown): error is Error {
  if (!(error instanceof Error) || error instanceof ApiError) return false;
  const code = 'code' in error ? String(error.code) : '';
  return (
    /^FST_(PARTS|FIELDS|FILES|PROTO|INVALID)/.test(code) ||
    /^(Unexpected end|Malformed|Multipart|Part terminated)/i.test(error.message)
  );
}

function formMessage(cause: Error) {
  return { message: 'The multipart form is malformed or has too many parts.', cause };
}

/** The form parser has already parsed parts declared as JSON. */
function textOf({ fieldname, value }: { fieldname: string; value: unknown }): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw fieldError(fieldname, 'is nested too deep');
  }
}

/** Form fields are text; converts them to the types of the metadata schema. */
function toMetadata(request: FastifyRequest, fields: ReadonlyMap<string, string[]>): Metadata {
  const values: Record<string, unknown> = {};
  for (const [name, given] of fields) values[name] = readField(name, given);
  refuseBadText(JSON.stringify(values), values);
  const validate = request.compileValidationSchema(NewContentMetadata, 'body');
  if (!validate(values)) throw validationError('body', (validate.errors ?? []) as Problem[]);
  return values as Metadata;
}

function readField(name: string, given: readonly string[]): unknown {
  const [first = ''] = given;
  if (name === 'tags') return readTags(given);
  if (given.length > 1) throw fieldError(name, 'is given more than once');
  if (name === 'customMetadata') return readJson(name, first);
  if (name === 'protected') return first === 'true' ? true : first === 'false' ? false : first;
  return first === '' && name !== 'title' ? null : first;
}

/** Accepts repeated fields, a JSON array, or a comma-separated list. */
function readTags(given: readonly string[]): unknown {
  const [first = ''] = given;
  if (given.length === 1 && first.trimStart().startsWith('[')) return readJson('tags', first);
  return given
    .flatMap((value) => value.split(','))
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}

function readJson(name: string, text: string): unknown {
  const problem = problemOfJson(Buffer.from(text));
  if (problem !== null) throw fieldError(name, problem);
  let hasProto = false;
  const look = (key: string, value: unknown) => {
    hasProto ||= key === '__proto__';
    return value;
  };
  let value: unknown;
  try {
    value = JSON.parse(text, look);
  } catch {
    throw fieldError(name, 'must be JSON');
  }
  if (hasProto) throw fieldError(name, 'must not contain a key __proto__');
  return value;
}
