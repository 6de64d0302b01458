import { defineErrors } from '../../platform/http/errors.ts';

export const eventErrors = defineErrors({
  UNKNOWN_EVENT: { status: 400, message: 'There is no such kind of event.' },
  EVENT_TOO_OLD: { status: 400, message: 'The event happened more than 24 hours ago.' },
});
