/** Turns validation problems into the response that a client reads. */
import { ApiError, platformErrors, type ErrorDetail, type PlatformErrorCode } from './errors.ts';
import type { Problem } from './validation.ts';
import { withoutBranches } from './validation-branches.ts';

const errorCodes = Object.keys(platformErrors) as PlatformErrorCode[];
const maxDetails = 20;
const maxPathLength = 200;

/** The response to schema violations in a body or elsewhere (`where`). */
export function validationError(where: string, problems: readonly Problem[]): ApiError {
  const details = new Map<string, ErrorDetail>();
  for (const problem of withoutBranches(problems)) {
    const detail = { path: pathOf(where, problem), message: messageOf(problem, where) };
    details.set(`${detail.path}\n${detail.message}`, detail);
  }
  const [first] = details.values();
  return new ApiError(codeOf(where, first, problems), {
    message: first === undefined ? 'The request is not valid.' : describe(first, details.size),
    details: [...details.values()].slice(0, maxDetails),
  });
}

function codeOf(
  where: string,
  first: ErrorDetail | undefined,
  problems: readonly Problem[],
): PlatformErrorCode {
  for (const { keyword, parentSchema } of problems) {
    const declared: unknown = parentSchema?.['x-error-code'];
    const code = errorCodes.find((known) => known === declared);
    if (keyword === 'maxItems' && code !== undefined) return code;
  }
  return first?.path === '' && where === 'body' ? 'INVALID_REQUEST' : 'VALIDATION_ERROR';
}

function describe(first: ErrorDetail, count: number): string {
  const subject = first.path === '' ? 'The body' : first.path;
  const more = count > 1 ? ` (and ${count - 1} more)` : '';
  return `${subject}: ${first.message}${more}`;
}

/** The field as a client writes it: `items[3].title`, or `query.limit` outside the body. */
function pathOf(where: string, { instancePath, params }: Problem): string {
  const extra: unknown = params['additionalProperty'] ?? params['missingProperty'];
  const segments = instancePath.split('/').slice(1).map(unescapePointer);
  if (typeof extra === 'string') segments.push(extra);
  const joined = segments
    .map((segment) => (/^\d+$/.test(segment) ? `[${segment}]` : `.${segment}`))
    .join('')
    .replace(/^\./, '')
    .toWellFormed();
  const path = joined.length > maxPathLength ? `${joined.slice(0, maxPathLength)}…` : joined;
  if (where === 'querystring') return path === '' ? 'query' : `query.${path}`;
  return path;
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
      return 'must contain at least one field';
    case 'format':
      return `must be ${formatNames[String(problem.params['format'])] ?? 'valid'}`;
    case 'minItems':
      return `must have at least ${limitOf(problem)} ${plural('item', problem)}`;
    case 'maxItems':
      return `must have at most ${limitOf(problem)} ${plural('item', problem)}`;
    case 'uniqueItems':
      return 'must not contain the same item twice';
    case 'minLength':
      return `must have at least ${limitOf(problem)} ${plural('character', problem)}`;
    case 'maxLength':
      return `must have at most ${limitOf(problem)} ${plural('character', problem)}`;
    case 'minimum':
      return `must be at least ${limitOf(problem)}`;
    case 'maximum':
      return `must be at most ${limitOf(problem)}`;
    case 'exclusiveMinimum':
      return `must be above ${limitOf(problem)}`;
    case 'type':
      // In a query string everything is text, unless a parameter is repeated.
      return where === 'querystring' && problem.params['type'] === 'string'
        ? 'must be given exactly once'
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
  const allowed: unknown = problem.params['allowedValues'] ?? [problem.params['allowedValue']];
  return Array.isArray(allowed) ? allowed.map((value) => JSON.stringify(value)).join(', ') : '';
}

const formatNames: Record<string, string> = {
  'date-time': 'an RFC 3339 timestamp with an offset, such as 2026-01-31T12:00:00Z',
  uri: 'an http or https URL',
};
