/** Detects known bots by their `User-Agent`. */
import { createIsbotFromList, list } from 'isbot';

/**
 * Identifiers of HTTP clients in apps and programs, whose requests come from people or are
 * intentional. The library's patterns for plain names would treat them as bots.
 */
const notBots = ['node', 'curl/8.5.0', 'okhttp/4.9.0', 'ReactNative/1', 'MyApp/2.0.1'];

const matchesBot = createIsbotFromList(
  list.filter((pattern) => !notBots.some((name) => new RegExp(pattern, 'i').test(name))),
);
/** Bots that only the patterns for plain names cover, and one that is missing from the library. */
const otherBots =
  /^(?:apache-httpclient|embedly|go-http-client|iframely|puppeteer|ruby|scrapy)\b|\bslurp\b/i;
/**
 * An app on a phone or tablet, no matter what words its name contains. Excludes browsers and bots
 * that imitate them.
 */
const mobileApp = /^(?!Mozilla\/)[^(]+\((?:[^)]*; ?)?(?:iPhone|iPad|Android)\b/;

/**
 * Whether a `User-Agent` belongs to a known bot on isbot's list. A missing or empty one proves
 * nothing, because apps may send none.
 */
export function isKnownBot(userAgent: string | undefined): boolean {
  if (userAgent === undefined || mobileApp.test(userAgent)) return false;
  return matchesBot(userAgent) || otherBots.test(userAgent);
}
