import { defineErrors } from '../../platform/http/errors.ts';

export const uploadErrors = defineErrors({
  CHECKSUM_MISMATCH: {
    status: 460,
    message: 'The bytes do not match Upload-Checksum. This part was discarded.',
  },
  CHECKSUM_UNSUPPORTED: {
    status: 400,
    message: 'Upload-Checksum must be sha1, sha256 or md5, a space, and the digest in base64.',
  },
  INVALID_MEDIA: { status: 422, message: 'The file is not supported media.' },
});
