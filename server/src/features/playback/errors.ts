import { defineErrors } from '../../platform/http/errors.ts';

export const playbackErrors = defineErrors({
  NOT_PROTECTED: { status: 409, message: 'The content item is not protected.' },
});
