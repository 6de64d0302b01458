/**
 * What a page of the service's own origin uses, such as the console: the whole API, signed by the
 * session cookie. It holds no key and nothing of Node.
 */
export { createSessionAdmin, type Admin } from './admin.ts';
export type {
  Answer,
  CallArguments,
  CallOptions,
  ItemOf,
  ListPath,
  PathOf,
} from './admin-types.ts';
export type { components } from './api.generated.ts';
export { ReelfeedError, type ErrorDetail } from './errors.ts';
export { upload } from './upload.ts';
