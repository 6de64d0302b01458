import type { Signer } from '../../platform/secrets/signing-keys.ts';

export type DownloadUrls = {
  /** A URL that needs no key and is valid until `expiresAt`. */
  sign(exportId: string, expiresAt: Date): string;
  accepts(exportId: string, expires: string, signature: string, nowMs: number): boolean;
};

const signatureBytes = 24;

export function createDownloadUrls(publicUrl: string, signer: Signer): DownloadUrls {
  const signed = (exportId: string, expires: string) =>
    signer.sign(`export-download\0${exportId}\0${expires}`, signatureBytes).toString('base64url');
  return {
    sign(exportId, expiresAt) {
      const expires = String(Math.floor(expiresAt.getTime() / 1_000));
      const query = new URLSearchParams({ expires, signature: signed(exportId, expires) });
      return `${publicUrl}/v1/exports/${exportId}/download?${query}`;
    },
    accepts(exportId, expires, signature, nowMs) {
      if (!/^\d{1,12}$/.test(expires) || Number(expires) * 1_000 <= nowMs) return false;
      const given = Buffer.from(signature, 'base64url');
      const isWhole = given.length === signatureBytes;
      return isWhole && signer.verify(`export-download\0${exportId}\0${expires}`, given);
    },
  };
}
