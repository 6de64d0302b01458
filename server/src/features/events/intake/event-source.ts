/** Country and device of events that don't say them: what the request itself shows of its sender. */
import type { FastifyRequest } from 'fastify';
import { isKnownBot } from '../bots.ts';
import { isCountry } from './countries.ts';
import { viewerAddress } from './crowds.ts';
import type { EventDevice } from '../logged-event.ts';

export type Sender = {
  readonly country: string | null;
  readonly device: EventDevice | null;
  readonly isBot: boolean;
  /** Whether an app's server has sent the request, which knows its users. */
  readonly isServer: boolean;
  /** The public address of the viewer's device, where it is known. It is never stored. */
  readonly address: string | null;
};

const server: Sender = {
  country: null,
  device: null,
  isBot: false,
  isServer: true,
  address: null,
};
/** What Cloudflare says when it does not know, and for Tor. */
const noCountry = new Set(['XX', 'T1']);

/**
 * Only of a request that a viewer's device has made itself: with a secret key it comes from a
 * server, whose place and program say nothing about the viewer.
 */
export function senderOf(request: FastifyRequest, countryHeader: string): Sender {
  if (request.principal?.type !== 'publishable') return server;
  const { headers } = request;
  return {
    country: readCountry(headers[countryHeader]),
    device: readDevice(headers['user-agent']),
    isBot: isKnownBot(headers['user-agent']),
    isServer: false,
    address: viewerAddress(request.client),
  };
}

/** The country that a header or a field tells, or null. */
export function readCountry(value: unknown): string | null {
  if (typeof value !== 'string' || !/^[A-Za-z]{2}$/.test(value)) return null;
  const country = value.toUpperCase();
  return isCountry(country) ? country : null;
}

/** Whether a value looks like a code of a country, and is none. */
export function isWrongCountry(value: unknown): boolean {
  if (typeof value !== 'string' || !/^[A-Za-z]{2}$/.test(value)) return false;
  const country = value.toUpperCase();
  return !noCountry.has(country) && !isCountry(country);
}

function readDevice(userAgent: string | undefined): EventDevice | null {
  if (userAgent === undefined) return null;
  // Browsers on phones count as the phone, as apps do: a feed is watched the same way in both.
  if (/iPhone|iPad|iPod|CFNetwork/.test(userAgent)) return 'ios';
  if (/Android|okhttp|Dalvik/.test(userAgent)) return 'android';
  return userAgent.startsWith('Mozilla/') ? 'web' : null;
}
