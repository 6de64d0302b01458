/**
 * Headers of the page. Everything comes from the service itself; `mediaOrigins` names the other
 * places that may serve playlists, segments and pictures, such as a CDN or the public URL.
 */
export function pageHeaders(mediaOrigins: readonly string[]): Record<string, string> {
  const media = [...new Set(mediaOrigins.map(originOf))].join(' ');
  const directives = [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self'`,
    `img-src 'self' data: ${media}`,
    // hls.js feeds the video element through a blob: address.
    `media-src 'self' blob: ${media}`,
    `connect-src 'self' ${media}`,
    `manifest-src 'self'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'self'`,
  ];
  return {
    'content-security-policy': directives.map((directive) => directive.trim()).join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  };
}

/** Throws for text that is not an http(s) URL: it would otherwise become part of the policy. */
function originOf(address: string): string {
  const url = new URL(address);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`A media origin must be an http(s) URL, not ${address}`);
  }
  return url.origin;
}
