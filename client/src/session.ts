/**
 * For pages on the service's own origin, such as the console: the whole API, authenticated by the
 * session cookie. Contains no key, and uses nothing from Node.
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
