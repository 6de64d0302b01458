/**
 * The page's headers. Everything is loaded from the service itself; `mediaOrigins` lists other
 * origins that may serve playlists, segments and images, such as a CDN or the public URL.
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

/** Throws if the text is not an http(s) URL, because it becomes part of the policy. */
function originOf(address: string): string {
  const url = new URL(address);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`A media origin must be an http(s) URL, not ${address}`);
  }
  return url.origin;
}
