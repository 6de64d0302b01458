/** Country and device of events that don't specify them, derived from the request. */
import type { FastifyRequest } from 'fastify';
import { isKnownBot } from '../bots.ts';
import { isCountry } from './countries.ts';
import { viewerAddress } from './crowds.ts';
import type { EventDevice } from '../logged-event.ts';

export type Sender = {
  readonly country: string | null;
  readonly device: EventDevice | null;
  readonly isBot: boolean;
  /** Whether an app's server sent the request, which knows its users. */
  readonly isServer: boolean;
  /** The public address of the viewer's device, if known. It is never stored. */
  readonly address: string | null;
};

const server: Sender = {
  country: null,
  device: null,
  isBot: false,
  isServer: true,
  address: null,
};
/** Cloudflare's codes for an unknown country and for Tor. */
const noCountry = new Set(['XX', 'T1']);

/**
 * Applies only to requests made by a viewer's device. Requests with a secret key come from a
 * server, whose location and program say nothing about the viewer.
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

/** The country in a header or a field, or null. */
export function readCountry(value: unknown): string | null {
  if (typeof value !== 'string' || !/^[A-Za-z]{2}$/.test(value)) return null;
  const country = value.toUpperCase();
  return isCountry(country) ? country : null;
}

/** Whether a value looks like a country code but is not one. */
export function isWrongCountry(value: unknown): boolean {
  if (typeof value !== 'string' || !/^[A-Za-z]{2}$/.test(value)) return false;
  const country = value.toUpperCase();
  return !noCountry.has(country) && !isCountry(country);
}

function readDevice(userAgent: string | undefined): EventDevice | null {
  if (userAgent === undefined) return null;
  // Mobile browsers count as the phone, like apps: a feed is watched the same way in both.
  if (/iPhone|iPad|iPod|CFNetwork/.test(userAgent)) return 'ios';
  if (/Android|okhttp|Dalvik/.test(userAgent)) return 'android';
  return userAgent.startsWith('Mozilla/') ? 'web' : null;
}
