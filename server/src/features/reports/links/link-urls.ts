/** Links to reports need no API key: they contain an id and its signature. */
import type { Signer } from '../../../platform/secrets/signing-keys.ts';

export type LinkUrls = {
  readonly sign: (linkId: string) => string;
  readonly accepts: (linkId: string, signature: string) => boolean;
};

const signatureBytes = 24;

export function createLinkUrls(publicUrl: string, signer: Signer): LinkUrls {
  const subject = (linkId: string) => `report-link\0${linkId}`;
  return {
    sign(linkId) {
      const signature = signer.sign(subject(linkId), signatureBytes).toString('base64url');
      return `${publicUrl}/shared/reports/${linkId}/${signature}`;
    },
    accepts(linkId, signature) {
      const given = Buffer.from(signature, 'base64url');
      const isWhole = given.length === signatureBytes && given.toString('base64url') === signature;
      return isWhole && signer.verify(subject(linkId), given);
    },
  };
}
