/** Converts the text fields of a form to the types of the metadata schema. */
import { fieldError } from '../../platform/http/errors.ts';
import { problemOfJson } from '../../platform/http/json-shape.ts';

/**
 * The value of a field, to be validated by the schema. An empty field is null.
 * @param given all values with this name, in order
 * @throws {ApiError} VALIDATION_ERROR if it is repeated or malformed
 */
export function readField(name: string, given: readonly string[]): unknown {
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
  if (hasProto) throw fieldError(name, 'must not hold a key __proto__');
  return value;
}
