/** Share links need no API key: they contain an id and its signature. */
import type { Signer } from '../../../platform/secrets/signing-keys.ts';

export type ShareUrls = {
  readonly sign: (shareId: string) => string;
  readonly accepts: (shareId: string, signature: string) => boolean;
};

const signatureBytes = 24;

export function createShareUrls(publicUrl: string, signer: Signer): ShareUrls {
  const subject = (shareId: string) => `experiment-share\0${shareId}`;
  return {
    sign(shareId) {
      const signature = signer.sign(subject(shareId), signatureBytes).toString('base64url');
      return `${publicUrl}/shared/experiments/${shareId}/${signature}`;
    },
    accepts(shareId, signature) {
      const given = Buffer.from(signature, 'base64url');
      const isWhole = given.length === signatureBytes && given.toString('base64url') === signature;
      return isWhole && signer.verify(subject(shareId), given);
    },
  };
}
