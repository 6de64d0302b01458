/** Known bots, by their `User-Agent`. */
import { createIsbotFromList, list } from 'isbot';

/**
 * What apps' own HTTP clients and programs send, whose requests are those of people or made on purpose.
 * No person reads a website with them, so the library's patterns for plain names take them for bots.
 */
const notBots = ['node', 'curl/8.5.0', 'okhttp/4.9.0', 'ReactNative/1', 'MyApp/2.0.1'];

const matchesBot = createIsbotFromList(
  list.filter((pattern) => !notBots.some((name) => new RegExp(pattern, 'i').test(name))),
);
/** Bots that only the patterns for plain names know, and one that the library lacks. */
const otherBots =
  /^(?:apache-httpclient|embedly|go-http-client|iframely|puppeteer|ruby|scrapy)\b|\bslurp\b/i;
/** An app on a phone or tablet, whatever words its own name has. Browsers, and bots like them, are others. */
const mobileApp = /^(?!Mozilla\/)[^(]+\((?:[^)]*; ?)?(?:iPhone|iPad|Android)\b/;

/**
 * Whether a `User-Agent` is that of a known bot, by the list of isbot. A missing or empty one says
 * nothing: apps may send none.
 */
export function isKnownBot(userAgent: string | undefined): boolean {
  if (userAgent === undefined || userAgent === '' || mobileApp.test(userAgent)) return false;
  return matchesBot(userAgent) || otherBots.test(userAgent);
}
