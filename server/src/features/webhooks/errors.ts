import { defineErrors } from '../../platform/http/errors.ts';

export const webhookErrors = defineErrors({
  DELIVERY_PENDING: { status: 409, message: 'The delivery has not ended yet.' },
});
