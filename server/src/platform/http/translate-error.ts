import type { FastifyError } from 'fastify';
import { isContention, isDatabaseAway, isDatabaseFull } from '../database/database-errors.ts';
import { EventLogUnavailableError } from '../event-log/event-log.ts';
import { StorageFullError, StorageUnavailableError } from '../storage/storage-errors.ts';
import { ApiError, codeForStatus } from './errors.ts';
import { validationError } from './validation-error.ts';
import type { Problem } from './validation.ts';

/**
 * Converts anything thrown while handling a request into a response. Unexpected errors become a
 * plain INTERNAL_ERROR; their text appears only in the log.
 */
export function translateError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const isFull = error instanceof StorageFullError || systemCode(error) === 'ENOSPC';
  if (isFull || isDatabaseFull(error)) {
    return new ApiError('INSUFFICIENT_STORAGE', { cause: error });
  }
  const isAway =
    error instanceof StorageUnavailableError ||
    error instanceof EventLogUnavailableError ||
    isDatabaseAway(error);
  if (isAway || isContention(error)) {
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
  // No resource has such a long id.
  if (error.code === 'FST_ERR_MAX_PARAM_LENGTH') return new ApiError('NOT_FOUND', { cause: error });
  const code = codeForStatus(error.statusCode ?? 500);
  if (code === 'INTERNAL_ERROR') return new ApiError(code, { cause: error });
  const message = explain[error.code];
  return new ApiError(code, message === undefined ? { cause: error } : { message, cause: error });
}

/** Messages for Fastify errors that clients may encounter. */
const explain: Record<string, string> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'The body is not valid JSON.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is shorter than its Content-Length.',
  FST_ERR_BAD_URL: 'The path of the request is malformed.',
  FST_ERR_CTP_INVALID_MEDIA_TYPE:
    'The Content-Type of the request is not supported here. JSON needs application/json.',
};

function fromValidation(error: FastifyError): ApiError {
  const problems = (error.validation ?? []) as Problem[];
  return validationError(error.validationContext ?? 'body', problems);
}
