/** Why an event is rejected. There are few codes, because clients can only react in a few ways. */
export type EventErrorCode =
  /** A field is missing, has the wrong type, or is too long. */
  | 'VALIDATION_ERROR'
  /** The kind is not in the event table. */
  | 'UNKNOWN_EVENT'
  /** The content item does not exist in the organization. */
  | 'NOT_FOUND'
  /** It happened over 24 hours ago. */
  | 'EVENT_TOO_OLD'
  /** The event itself made storing fail; the other events of its request are stored. */
  | 'INTERNAL_ERROR';

/**
 * A rejection. It is a value rather than an exception, because a batch may have many and stack
 * traces are slow.
 */
export class EventProblem {
  readonly code: EventErrorCode;
  /** The field, such as `data.position`; empty for the event as a whole. */
  readonly path: string;
  readonly detail: string;

  constructor(code: EventErrorCode, path: string, detail: string) {
    this.code = code;
    this.path = path;
    this.detail = detail;
  }

  get message(): string {
    return this.path === '' ? this.detail : `${this.path}: ${this.detail}`;
  }
}
