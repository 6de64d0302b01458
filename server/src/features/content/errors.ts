import { defineErrors } from '../../platform/http/errors.ts';

export const contentErrors = defineErrors({
  CONTENT_NOT_READY: { status: 409, message: 'The content item is not ready yet.' },
});
