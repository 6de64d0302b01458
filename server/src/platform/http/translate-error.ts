import type { FastifyError } from 'fastify';
import { isContention, isDatabaseAway, isDatabaseFull } from '../database/database-errors.ts';
import { StorageFullError } from '../storage/storage-errors.ts';
import { ApiError, codeForStatus, type ErrorDetail } from './errors.ts';

/**
 * Turns anything thrown while a request was handled into an answer. What no rule knows becomes a
 * plain INTERNAL_ERROR: its text stays in the log.
 */
export function translateError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const isFull = error instanceof StorageFullError || systemCode(error) === 'ENOSPC';
  if (isFull || isDatabaseFull(error)) {
    return new ApiError('INSUFFICIENT_STORAGE', { cause: error });
  }
  if (isDatabaseAway(error) || isContention(error)) {
    return new ApiError('UNAVAILABLE', { cause: error });
  }
  if (isFastifyError(error)) return fromFastify(error);
  return new ApiError('INTERNAL_ERROR', { cause: error });
}

function systemCode(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number';
}

function fromFastify(error: FastifyError): ApiError {
  if (error.validation !== undefined) return fromValidation(error);
  // No resource has an id that long.
  if (error.code === 'FST_ERR_MAX_PARAM_LENGTH') return new ApiError('NOT_FOUND', { cause: error });
  const code = codeForStatus(error.statusCode ?? 500);
  if (code === 'INTERNAL_ERROR') return new ApiError(code, { cause: error });
  const message = explain[error.code];
  return new ApiError(code, message === undefined ? { cause: error } : { message, cause: error });
}

/** Sentences for the errors of Fastify that a client meets. */
const explain: Record<string, string> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'The body is not valid JSON.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as its Content-Length.',
  FST_ERR_BAD_URL: 'The path of the request is malformed.',
  FST_ERR_CTP_INVALID_MEDIA_TYPE:
    'The Content-Type of the request is not supported here. JSON needs application/json.',
};

function fromValidation(error: FastifyError): ApiError {
  return validationError(error.validationContext ?? 'body', error.validation ?? []);
}

/** The answer to problems that a schema has found, in a body or elsewhere (`where`). */
export function validationError(where: string, problems: readonly Problem[]): ApiError {
  const details: ErrorDetail[] = problems.map((problem) => ({
    path: pathOf(where, problem),
    message: messageOf(problem, where),
  }));
  const unique = [...new Map(details.map((detail) => [JSON.stringify(detail), detail])).values()];
  const first = unique[0];
  const atRoot = first !== undefined && first.path === '' && where === 'body';
  return new ApiError(atRoot ? 'INVALID_REQUEST' : 'VALIDATION_ERROR', {
    message: first === undefined ? 'The request is not valid.' : describe(first, unique.length),
    details: unique,
  });
}

function describe(first: ErrorDetail, count: number): string {
  const subject = first.path === '' ? 'The body' : first.path;
  const more = count > 1 ? ` (and ${count - 1} more)` : '';
  return `${subject}: ${first.message}${more}`;
}

export type Problem = NonNullable<FastifyError['validation']>[number];

/** The field as a client writes it: `items[3].title`, or `query limit` outside of the body. */
function pathOf(where: string, problem: Problem): string {
  const extra = problem.params['additionalProperty'] ?? problem.params['missingProperty'];
  const segments = problem.instancePath.split('/').slice(1).map(unescapePointer);
  if (typeof extra === 'string') segments.push(extra);
  const joined = segments
    .map((segment) => (/^\d+$/.test(segment) ? `[${segment}]` : `.${segment}`))
    .join('')
    .replace(/^\./, '');
  if (where === 'querystring') return joined === '' ? 'query' : `query.${joined}`;
  return joined;
}

function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

function messageOf(problem: Problem, where: string): string {
  switch (problem.keyword) {
    case 'additionalProperties':
      return 'is not a known field';
    case 'required':
      return 'is required';
    case 'enum':
    case 'const':
      return `must be one of ${allowedValues(problem)}`;
    case 'minProperties':
      return 'must hold at least one field';
    case 'format':
      return `must be ${formatNames[String(problem.params['format'])] ?? 'valid'}`;
    case 'minItems':
      return `must have at least ${limitOf(problem)} ${plural('item', problem)}`;
    case 'maxItems':
      return `must have at most ${limitOf(problem)} ${plural('item', problem)}`;
    case 'uniqueItems':
      return 'must not hold the same item twice';
    case 'minLength':
      return `must have at least ${limitOf(problem)} ${plural('character', problem)}`;
    case 'maxLength':
      return `must have at most ${limitOf(problem)} ${plural('character', problem)}`;
    case 'minimum':
      return `must be at least ${limitOf(problem)}`;
    case 'maximum':
      return `must be at most ${limitOf(problem)}`;
    case 'type':
      // In a query everything is text, unless it stands there twice.
      return where === 'querystring' && problem.params['type'] === 'string'
        ? 'must be given once'
        : `must be ${typeNames(problem)}`;
    default:
      return problem.message ?? 'is not valid';
  }
}

function limitOf(problem: Problem): number {
  return Number(problem.params['limit']);
}

function plural(noun: string, problem: Problem): string {
  return limitOf(problem) === 1 ? noun : `${noun}s`;
}

/** `string`, or `string or null`. */
function typeNames(problem: Problem): string {
  return String(problem.params['type']).split(',').join(' or ');
}

function allowedValues(problem: Problem): string {
  const allowed = problem.params['allowedValues'] ?? [problem.params['allowedValue']];
  return Array.isArray(allowed) ? allowed.map((value) => JSON.stringify(value)).join(', ') : '';
}

const formatNames: Record<string, string> = {
  'date-time': 'an RFC 3339 timestamp with an offset, such as 2026-01-31T12:00:00Z',
  uri: 'an http or https URL',
};
