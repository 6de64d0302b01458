import { defineErrors } from '../../platform/http/errors.ts';

export const playbackErrors = defineErrors({
  NOT_PROTECTED: { status: 409, message: 'The content item is not protected.' },
  RANGE_NOT_SATISFIABLE: { status: 416, message: 'The file does not reach that range.' },
});
